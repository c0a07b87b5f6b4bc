-- What the hosts of a ledger share. Hosts call the functions, whose names end in their version, and never use a table. Paths are bytea,
-- because they may contain any bytes; texts that are compared have the collation "C". The row of a closed session may be deleted, so a
-- claim without a row of its session counts as one of a closed session. Hosts need not trust each other: what each can write is bounded.
create schema shelfd;
set local search_path = shelfd;

create table ledger (
  is_only     boolean primary key default true check (is_only),
  schema      integer not null,
  generation  uuid not null default gen_random_uuid(),
  lease_ms    integer not null,
  -- Where the ledger was created (place_1). If it is elsewhere now, it may lack what hosts did.
  created_on  text
);

-- A tenant of a service. Its libraries share limits; claims lock its row while they count against a limit. The ids of services, libraries
-- and MIME types come from no sequence (lock_names_1), because calls that are rolled back would use up its numbers.
create table service (
  id         integer primary key,
  origin     text collate "C" not null check (octet_length(origin) <= 2048),
  tenant_id  bigint not null,
  made_by    name not null default session_user,
  unique (origin, tenant_id)
);

create table library (
  id          integer primary key,
  service_id  integer not null,
  remote_id   text collate "C" not null check (octet_length(remote_id) <= 2048),
  made_by     name not null default session_user,
  unique (service_id, remote_id)
);

create table mime (
  id       smallint primary key,
  name     text collate "C" not null unique check (octet_length(name) <= 255),
  made_by  name not null default session_user
);

-- The ids of hosts and sessions are random, so that a restored ledger never gives out an id that is still in use.
create table host (
  id          integer primary key default 1 + floor(random() * 2147483646)::integer,
  key         text collate "C" not null unique check (octet_length(key) <= 64),
  name        text not null check (octet_length(name) <= 500),
  version     text not null check (octet_length(version) <= 64),
  made_by     name not null default session_user,
  session_id  bigint,
  -- The number of the host's last batch that was settled.
  settled     bigint not null default 0,
  is_forgotten boolean not null default false,
  -- Distinguishes the state of a host from a copy of it; null: unknown.
  place       text collate "C" check (octet_length(place) <= 255)
);

create function random_number_1() returns bigint language sql as $$
  select ('x' || left(digits, 12) || right(digits, 4))::bit(64)::bigint & 9223372036854775807
    from (select replace(gen_random_uuid()::text, '-', '') digits) random $$;

-- The id of a session is a secret of its host, also if all hosts have the same role. Other hosts see public_id.
create table session (
  id           bigint primary key,
  public_id    bigint not null unique default random_number_1(),
  -- The role that opened the session; no other role may use it.
  role         name not null default session_user,
  host_id      integer not null,
  previous_id  bigint,
  -- Generation and timeline at its opening. If the ledger has others now, it may lack what the session did.
  generation   text not null,
  timeline     integer not null,
  beat         bigint not null default 0,
  seen_at      timestamptz not null default clock_timestamp(),
  is_closed    boolean not null default false,
  -- Another host closed the session because it was silent.
  is_lost      boolean not null default false,
  -- The service that the host uploads to, or whose ingestion it waits for, according to its last beat.
  busy_with    text collate "C" check (octet_length(busy_with) <= 2048)
) with (fillfactor = 50);
create index on session (host_id);

-- outcome: p pending, s searchable, r searchable with a remark, i partial, f failed, u unknown
create table content (
  library_id   integer not null,
  sha256       bytea not null check (octet_length(sha256) = 32),
  mime         smallint not null,
  size         bigint not null,
  resource_id  text collate "C" not null check (octet_length(resource_id) <= 2048),
  outcome      "char" not null,
  host_id      integer not null,
  stored_at    timestamptz not null default clock_timestamp(),
  -- The session that polls the resource instead of the host that sent it; null: that host polls it.
  followed_by  bigint,
  primary key (library_id, sha256, mime)
);
-- Without library_id: otherwise the planner would use this index, while the table is small, for queries by the primary key, and keep that
-- plan for the life of a connection.
create index on content using hash (resource_id);

-- state: s its session may send it, d in doubt: its session searches for it first. The table stays small, because settled claims are deleted.
create table claim (
  library_id  integer not null,
  sha256      bytea not null check (octet_length(sha256) = 32),
  mime        smallint not null,
  -- 0: no session has it, and the next one that asks takes it over.
  session_id  bigint not null,
  host_id     integer not null,
  state       "char" not null,
  doubts      integer not null default 0,
  -- The host from which it was taken over.
  taken_from  integer,
  -- The slot of `spend` in which it counts.
  slot        timestamptz,
  sent_to     bytea[] not null,
  primary key (library_id, sha256, mime)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

create table refusal (
  library_id    integer not null,
  sha256        bytea not null check (octet_length(sha256) = 32),
  mime          smallint not null,
  code          text not null check (octet_length(code) <= 64),
  message       text not null check (octet_length(message) <= 500),
  count         integer not null,
  -- Null: a person must act.
  retry_at      timestamptz,
  is_set_aside  boolean not null,
  host_id       integer not null,
  primary key (library_id, sha256, mime)
);

create table extra_send (
  id           bigint generated always as identity primary key,
  library_id   integer not null,
  sha256       bytea not null,
  mime         smallint not null,
  host_id      integer not null,
  session_id   bigint not null,
  resource_id  text collate "C" not null check (octet_length(resource_id) <= 2048),
  noticed_at   timestamptz not null default clock_timestamp()
);
create index on extra_send (library_id, sha256, mime);
create index on extra_send (host_id);

-- How many contents were claimed in each slot of ten minutes, for the limit of a day.
create table spend (service_id integer not null, slot timestamptz not null, n bigint not null, primary key (service_id, slot));

create table host_order (
  id        bigint generated always as identity primary key,
  host_id   integer not null,
  kind      text not null check (kind in ('pause', 'resume', 'sync')),
  mirror    text check (octet_length(mirror) <= 1024),
  given_at  timestamptz not null default clock_timestamp()
);
create index on host_order (host_id);

-- The wait that a service last asked of a host (`Retry-After`). It ends by the clock of the ledger, and is never longer than what was asked.
create table service_wait (
  host_id    integer primary key,
  origin     text collate "C" not null check (octet_length(origin) <= 2048),
  asked_at   timestamptz not null,
  length_ms  bigint not null
);

-- What hosts report about their mirrors, for people. It never decides who sends a content. JSON is stored as text, because a path may
-- contain any character. A host replaces what it reported before.
create table published_host (
  host_id       integer primary key,
  -- Contents that the host sent in the last 24 hours.
  sent          bigint not null,
  published_at  timestamptz not null default clock_timestamp()
);

create table published_mirror (
  host_id   integer not null,
  name      text collate "C" not null check (octet_length(name) <= 1024),
  sign      text not null check (octet_length(sign) <= 8),
  waiting   bigint not null,
  problems  bigint not null,
  state     text not null check (octet_length(state) <= 4096),
  primary key (host_id, name)
);

create table published_problem (
  host_id  integer not null,
  mirror   text collate "C" not null check (octet_length(mirror) <= 1024),
  nth      smallint not null check (nth between 1 and 1000),
  sha256   bytea,
  problem  text not null check (octet_length(problem) <= 12288),
  primary key (host_id, mirror, nth)
);
create index on published_problem (sha256) where sha256 is not null;

create table published_run (
  host_id     integer not null,
  nth         smallint not null check (nth between 1 and 100),
  started_at  bigint not null,
  run         text not null check (octet_length(run) <= 8192),
  primary key (host_id, nth)
);
create index on published_run (started_at);

-- Helper functions --------------------------------------------------------------------------------------------------------------------

-- The identifier of the cluster; 0 if it cannot be read.
create function cluster_1() returns bigint language plpgsql stable as $$
begin
  return (select c.system_identifier from pg_control_system() c);
exception when insufficient_privilege or undefined_function or feature_not_supported then return 0;
end $$;

-- Identifies the ledger. A restored dump has another one: it creates the table with another oid, or the same oid in another cluster.
create function generation_1() returns text language sql stable as $$
  select concat_ws('-', l.generation, shelfd.cluster_1(), 'shelfd.ledger'::regclass::oid) from shelfd.ledger l $$;

-- The timeline of the write-ahead log, which changes with a failover; 0 if it cannot be read.
create function timeline_1() returns integer language plpgsql stable as $$
begin
  return ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer;
exception when others then return 0;
end $$;

create function place_1() returns text language sql stable as $$ select generation_1() || '/' || timeline_1() $$;

-- Makes this transaction durable once it is acknowledged, whatever the default is.
create function be_durable_1() returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then perform set_config('synchronous_commit', 'on', true); end if;
end $$;

-- Throws if a role has reached the bound of the rows that it may create. Hosts that have the same role share its bound.
create function check_room_1(p_what text, p_count bigint, p_most bigint) returns void language plpgsql as $$
begin
  if p_count >= p_most then
    raise exception 'role "%" has left % %, and no more are kept', session_user, p_most, p_what using errcode = 'SF006';
  end if;
end $$;

-- Locks the names while a service, a library or a MIME type gets its id; taken before any lock that other calls wait for. It is the lock of
-- a table, because any role could take an advisory lock and keep it.
create function lock_names_1() returns void language sql as $$ lock table shelfd.mime in share row exclusive mode $$;

create function library_1(p_origin text, p_tenant bigint, p_remote text, p_may_create boolean) returns library language plpgsql as $$
declare found_service integer; result library;
begin
  select s.id into found_service from service s where s.origin = p_origin and s.tenant_id = p_tenant;
  select * into result from library l where l.service_id = found_service and l.remote_id = p_remote;
  if found or not p_may_create then return result; end if;
  perform lock_names_1();
  -- These statements have newer snapshots: another call may have created the rows before the lock was taken.
  select s.id into found_service from service s where s.origin = p_origin and s.tenant_id = p_tenant;
  if not found then
    perform check_room_1('services', (select count(*) from service s where s.made_by = session_user), 1000);
    insert into service (id, origin, tenant_id) select coalesce(max(s.id), 0) + 1, p_origin, p_tenant from service s returning id into found_service;
  end if;
  select * into result from library l where l.service_id = found_service and l.remote_id = p_remote;
  if not found then
    perform check_room_1('libraries', (select count(*) from library l where l.made_by = session_user), 10000);
    insert into library (id, service_id, remote_id) select coalesce(max(l.id), 0) + 1, found_service, p_remote from library l returning * into result;
  end if;
  return result;
end $$;

-- The id of each MIME type; null for a name that is unknown.
create function mimes_1(p_names text[], p_may_create boolean) returns smallint[] language plpgsql as $$
declare result smallint[] := '{}'; one smallint; n text;
begin
  foreach n in array p_names loop
    select m.id into one from mime m where m.name = n;
    if not found and p_may_create then
      perform lock_names_1();
      select m.id into one from mime m where m.name = n;
      if not found then
        perform check_room_1('MIME types', (select count(*) from mime m where m.made_by = session_user), 1000);
        insert into mime (id, name) select coalesce(max(m.id), 0) + 1, n from mime m returning id into one;
      end if;
    end if;
    result := result || one;
  end loop;
  return result;
end $$;

-- Throws if a call has more rows than any host sends in one.
create function check_size_1(p_count integer) returns void language plpgsql as $$
begin
  if p_count > 500 then raise exception 'more than 500 rows in a call' using errcode = 'SF006'; end if;
end $$;

-- Whether a session had no beat for lease and grace period. Also true if the clock was set back since the beat: then only the caller, who
-- measures by its own clock, can know.
create function is_silent_1(p_seen_at timestamptz) returns boolean language sql stable as $$
  select p_seen_at < clock_timestamp() - make_interval(secs => l.lease_ms / 500.0) or p_seen_at > clock_timestamp() from ledger l $$;

-- Returns the host of a session. Throws if it is closed, belongs to another role, or was opened on another generation or timeline.
create function check_session_1(p_session bigint) returns integer language plpgsql as $$
declare s session;
begin
  select * into s from session x where x.id = p_session and x.role = session_user for key share;
  if not found or s.is_closed or s.generation <> generation_1() or s.timeline <> timeline_1() then
    raise exception 'the session is over' using errcode = 'SF001';
  end if;
  if s.beat = 0 then
    -- Marks the session as used, because open_1 replaces a session that was never used.
    update session x set beat = 1 where x.id = p_session and x.beat = 0 and not x.is_closed;
    perform 1 from session x where x.id = p_session and not x.is_closed;
    if not found then raise exception 'the session is over' using errcode = 'SF001'; end if;
  end if;
  return s.host_id;
end $$;

-- How many contents the limit of a day still allows, null without a limit, and when it allows more. A slot counts for 24 hours after its end.
create function room_1(p_service integer, p_per_day bigint, p_now timestamptz) returns table (room bigint, frees_at timestamptz) language sql stable as $$
  with used as (
    select s.slot, sum(s.n) over (order by s.slot) so_far from spend s
      where s.service_id = p_service and s.n > 0 and s.slot > p_now - interval '24 hours 10 minutes'
  ), total as (select coalesce(max(u.so_far), 0) n from used u)
  select (p_per_day - least(t.n, p_per_day))::bigint, case when p_per_day > 0 then interval '24 hours 10 minutes'
    + coalesce((select min(u.slot) from used u where t.n - u.so_far < p_per_day), date_bin('10 minutes', p_now, 'epoch')) end from total t $$;

create function milliseconds_1(p_at timestamptz) returns bigint language sql immutable as $$
  select round(extract(epoch from p_at) * 1000)::bigint $$;

-- Sessions ----------------------------------------------------------------------------------------------------------------------------

create function ledger_1() returns table (o_schema integer, o_lease_ms integer) language sql stable security definer
set search_path = shelfd, pg_temp as $$ select l.schema, l.lease_ms from ledger l $$;

-- Opens a session; p_previous is the last one in the state of the host. Another process that has the same key is refused as follows.
-- If the place is known (not null), a state at another place is refused, unless the host was forgotten. At the same place, a p_previous that
-- differs from the ledger's session means that the ledger lost commits, or that the state was restored there. But if the ledger's session
-- was opened after p_previous, and used, another process did so with a copy of the state. With p_is_restored that proves nothing, because
-- the state may be older than that session.
create function open_1(p_key text, p_name text, p_version text, p_previous bigint, p_place text, p_is_restored boolean)
returns table (
  o_session bigint, o_host integer, o_settled bigint, o_generation text, o_timeline integer, o_lease_ms integer, o_has_moved boolean
) language plpgsql security definer set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
declare known host; h host; own session; previous bigint := p_previous; here_generation text := generation_1(); here_timeline integer := timeline_1();
begin
  if current_setting('fsync') <> 'on' then
    raise exception 'PostgreSQL runs with fsync = off: what it acknowledges may be lost' using errcode = 'SF004';
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the role or database sets default_transaction_isolation to "%", and must leave it at "read committed"',
      current_setting('transaction_isolation') using errcode = 'SF004';
  end if;
  perform be_durable_1();
  select * into known from host x where x.key = p_key for update;
  if not found then perform check_room_1('hosts', (select count(*) from host x where x.made_by = session_user), 10000); end if;
  if known.session_id is not null and known.place <> p_place then
    raise exception 'the state of host "%" is at another place', p_name using errcode = 'SF005';
  end if;
  insert into host as x (key, name, version, place) values (p_key, p_name, p_version, p_place)
    on conflict (key) do update set name = excluded.name, version = excluded.version, is_forgotten = false,
      place = coalesce(excluded.place, x.place) returning * into h;
  if h.session_id is not null then
    select * into own from session s where s.id = h.session_id for update;
    if known.place = p_place and (p_is_restored or own.beat = 0 or own.previous_id is distinct from p_previous) then
      previous := h.session_id;
    end if;
    -- The ledger's session may differ from the host's previous one for two harmless reasons: the answer to an earlier call was lost, so that
    -- its session was never used; or the ledger is on another generation or timeline. Otherwise another process opened it.
    if h.session_id is distinct from previous
      and not (own.beat = 0 and own.previous_id is not distinct from previous)
      and own.generation = here_generation and own.timeline = here_timeline then
      raise exception 'another process uses the key of host "%"', p_name using errcode = 'SF002';
    end if;
    update session s set is_closed = true where s.id = h.session_id;
    delete from session s where s.host_id = h.id and s.is_closed and s.id <> h.session_id;
  end if;
  o_session := random_number_1();
  insert into session (id, host_id, previous_id, generation, timeline)
    values (o_session, h.id, previous, here_generation, here_timeline);
  update host x set session_id = o_session where x.id = h.id;
  return query select o_session, h.id, h.settled, here_generation, here_timeline, l.lease_ms, l.created_on is distinct from place_1() from ledger l;
end $$;

create function wait_left_1(p_origin text) returns bigint language sql stable as $$
  select coalesce(max(least(w.length_ms, w.length_ms - milliseconds_1(clock_timestamp()) + milliseconds_1(w.asked_at))), 0)
    from service_wait w where w.origin = p_origin and w.asked_at <= clock_timestamp()
      and w.asked_at > clock_timestamp() - interval '1 day' $$;

-- Adds a beat. p_taken: the last order that the host has carried out. p_wait_ms: the wait that the service at p_origin asked of this host
-- (null: none); other hosts wait for an hour of it at most, and longer if a later beat repeats it. o_busy_others: sessions of other hosts
-- that use this service and are not silent by the ledger's clock; a clock is good enough here, because it does not decide who sends.
-- Returns a row for each order, or one row without an order.
create function renew_1(p_session bigint, p_taken bigint, p_origin text, p_wait_ms bigint, p_is_busy boolean) returns table (
  o_is_ours boolean, o_order bigint, o_kind text, o_mirror text, o_wait_ms bigint, o_busy_others integer
) language plpgsql security definer set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
declare h integer; others integer;
begin
  -- Durable, because after a crash other hosts must not see an older beat than the one from which the host counts its lease.
  perform be_durable_1();
  update session s set beat = s.beat + 1, seen_at = clock_timestamp(), busy_with = case when p_is_busy then p_origin end
    where s.id = p_session and s.role = session_user and not s.is_closed and s.generation = generation_1() and s.timeline = timeline_1()
    returning s.host_id into h;
  if not found then
    return query select false, null::bigint, null::text, null::text, wait_left_1(p_origin), 0;
    return;
  end if;
  if p_wait_ms > 0 and least(p_wait_ms, 3600000) > wait_left_1(p_origin) then
    insert into service_wait as w values (h, p_origin, clock_timestamp(), least(p_wait_ms, 3600000))
      on conflict (host_id) do update set origin = excluded.origin, asked_at = excluded.asked_at, length_ms = excluded.length_ms;
  end if;
  delete from host_order o where o.host_id = h and o.id <= p_taken;
  select count(*) into others from session s where s.busy_with = p_origin and s.id <> p_session and not s.is_closed
    and s.seen_at > (select clock_timestamp() - make_interval(secs => l.lease_ms / 500.0) from ledger l);
  return query select true, o.id, o.kind, o.mirror, wait_left_1(p_origin), others
    from (select) one left join host_order o on o.host_id = h order by o.id;
end $$;

create function close_1(p_session bigint) returns void language plpgsql security definer
set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
begin
  perform be_durable_1();
  update session s set is_closed = true where s.id = p_session and s.role = session_user;
end $$;

-- Closes a silent session. The caller claims to have seen the same beat for lease and grace period by its own clock. Since it may lie, the
-- clock of the ledger must agree.
create function close_silent_1(p_session bigint, p_beat bigint) returns boolean language plpgsql security definer
set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
begin
  perform be_durable_1();
  update session s set is_closed = true, is_lost = true
    where s.public_id = p_session and s.beat = p_beat and not s.is_closed and is_silent_1(s.seen_at);
  return found;
end $$;

-- Whether open_1 would refuse a host with this key whose last session was p_previous (SF002).
create function is_in_use_1(p_key text, p_previous bigint) returns boolean language sql stable security definer
set search_path = shelfd, pg_temp as $$
  select exists (select from host h join session s on s.id = h.session_id where h.key = p_key and s.id is distinct from p_previous
    and not (s.beat = 0 and s.previous_id is not distinct from p_previous)
    and s.generation = generation_1() and s.timeline = timeline_1()) $$;

-- Claims ------------------------------------------------------------------------------------------------------------------------------

create function sent_bytes_1(p_places bytea[]) returns bigint language sql immutable as $$
  select coalesce(sum(octet_length(p) + 24), 0) from unnest(p_places) p $$;

-- Claims contents. Answers: m mine, d mine and in doubt, s stored, r refused, e elsewhere, h held by the limit of a day, f free because the
-- call has claimed p_at_most (null: no bound). Contents must be sorted by key, without repetition, and p_mimes by name. A row answers for
-- the contents o_nth to o_last; if several rows answer for a content, the last one holds. If limits do not allow all, those with the lowest
-- p_rank are claimed.
create function claim_1(
  p_session bigint, p_origin text, p_tenant bigint, p_remote text, p_mimes text[],
  p_sha256 bytea[], p_mime integer[], p_places bytea[], p_rank integer[], p_per_day bigint, p_at_most integer
) returns table (
  o_nth integer, o_last integer, o_answer "char", o_resource text, o_outcome "char", o_code text, o_message text, o_until bigint, o_is_set_aside boolean,
  o_places bytea[], o_host text, o_session bigint, o_beat bigint
) language plpgsql security definer set search_path = shelfd, pg_temp set lock_timeout = '20s'
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  now_at timestamptz := clock_timestamp(); now_slot timestamptz := date_bin('10 minutes', now_at, 'epoch');
  me integer := check_session_1(p_session); lib library; mimes smallint[]; key_sha bytea; key_mime smallint; other_number bigint;
  has_refusals boolean; was_inserted boolean; other record; no record; of_host integer; named_host integer; left_over record;
  k integer; stored_at integer[] := '{}'; open_at integer[]; claimed_at integer[]; is_known boolean[]; claimed integer := 0; fresh_at integer[] := '{}'; fresh integer;
begin
  perform be_durable_1();
  perform check_size_1(greatest(cardinality(p_sha256), cardinality(p_mimes)));
  lib := library_1(p_origin, p_tenant, p_remote, true);
  mimes := mimes_1(p_mimes, true);
  has_refusals := exists (select from refusal x where x.library_id = lib.id);
  if sent_bytes_1(p_places) > 4194304 then raise exception 'more than 4 MiB of paths in a call' using errcode = 'SF006'; end if;
  -- OFFSET 0 keeps the planner from making a join of the lookup: if it plans while the table is small, such a join later scans whole libraries.
  o_answer := 's';
  for o_nth, o_resource, o_outcome, of_host in
    select w.nth, c.resource_id, c.outcome, c.host_id from unnest(p_sha256, p_mime) with ordinality w (sha256, mime, nth)
      cross join lateral (
        select c.resource_id, c.outcome, c.host_id from content c
          where c.library_id = lib.id and c.sha256 = w.sha256 and c.mime = mimes[w.mime] offset 0
      ) c
  loop
    if of_host is distinct from named_host then
      select h.name into o_host from host h where h.id = of_host;
      named_host := of_host;
    end if;
    o_last := o_nth;
    stored_at := stored_at || o_nth;
    return next;
  end loop;
  open_at := array(select generate_series(1, cardinality(p_sha256)) except select unnest(stored_at) order by 1);
  with claimed as (
    insert into claim (library_id, sha256, mime, session_id, host_id, state, slot, sent_to)
      select lib.id, p_sha256[w.nth], mimes[p_mime[w.nth]], p_session, me, 's', now_slot, array[p_places[w.nth]] from unnest(open_at) w (nth)
        where not (has_refusals and exists (
          select from refusal x where x.library_id = lib.id and x.sha256 = p_sha256[w.nth] and x.mime = mimes[p_mime[w.nth]]
            and (x.is_set_aside or x.retry_at is null or x.retry_at > now_at) offset 0
        )) order by w.nth
      on conflict do nothing returning sha256, mime
  )
  select array_agg(w.nth order by w.nth) into claimed_at
    from unnest(open_at) w (nth) join claimed c on c.sha256 = p_sha256[w.nth] and c.mime = mimes[p_mime[w.nth]];
  -- This statement has a newer snapshot: another host may have settled some contents between the lookup and the claim.
  select array_agg(exists (
      select from content c where c.library_id = lib.id and c.sha256 = p_sha256[w.nth] and c.mime = mimes[p_mime[w.nth]] offset 0
    ) or has_refusals and exists (
      select from refusal x where x.library_id = lib.id and x.sha256 = p_sha256[w.nth] and x.mime = mimes[p_mime[w.nth]] offset 0
    ) order by w.nth) into is_known from unnest(claimed_at) w (nth);
  foreach k in array open_at loop
    was_inserted := coalesce(k = claimed_at[claimed + 1], false);
    if was_inserted then
      claimed := claimed + 1;
      if not is_known[claimed] then
        fresh_at := fresh_at || k;
        continue;
      end if;
    end if;
    o_nth := k; o_last := k; key_sha := p_sha256[k]; key_mime := mimes[p_mime[k]];
    o_resource := null; o_outcome := null; o_code := null; o_message := null; o_until := null; o_is_set_aside := null;
    o_places := null; o_session := null; o_beat := null; of_host := null;
    -- Repeated once after a new claim: another host may have settled the content between lookup and claim, which a newer snapshot shows.
    loop
      select c.resource_id, c.outcome, c.host_id into o_resource, o_outcome, of_host from content c
        where c.library_id = lib.id and c.sha256 = key_sha and c.mime = key_mime;
      if found then o_answer := 's'; exit; end if;
      if has_refusals then
        select x.* into no from refusal x where x.library_id = lib.id and x.sha256 = key_sha and x.mime = key_mime;
        if found and (no.is_set_aside or no.retry_at is null or no.retry_at > now_at) then
          o_answer := 'r'; of_host := no.host_id; o_code := no.code; o_message := no.message;
          o_until := milliseconds_1(no.retry_at); o_is_set_aside := no.is_set_aside;
          exit;
        end if;
      end if;
      if was_inserted then o_answer := 'm'; exit; end if;
      insert into claim (library_id, sha256, mime, session_id, host_id, state, slot, sent_to)
        values (lib.id, key_sha, key_mime, p_session, me, 's', now_slot, array[p_places[k]])
        on conflict do nothing;
      was_inserted := found;
      if was_inserted then continue; end if;
      select c.session_id, c.host_id, c.state, c.taken_from, c.sent_to into other from claim c
        where c.library_id = lib.id and c.sha256 = key_sha and c.mime = key_mime for update skip locked;
      if not found then
        -- Another call settles or claims it right now, so the caller asks again.
        o_answer := 'e';
        select c.host_id into of_host from claim c where c.library_id = lib.id and c.sha256 = key_sha and c.mime = key_mime;
        exit;
      end if;
      -- Another statement, so that its snapshot is newer than the lock: the claim may have got another session meanwhile.
      select s.beat, s.public_id into o_beat, other_number from session s where s.id = other.session_id and not s.is_closed;
      if found and other.session_id <> p_session then
        o_answer := 'e'; of_host := other.host_id; o_session := other_number;
      elsif other.session_id = p_session and other.state = 's' and p_places[k] = any (other.sent_to) then
        o_answer := 'm';
      elsif sent_bytes_1(other.sent_to) + octet_length(p_places[k]) > 4194304 then
        -- The claim was taken over too often, or a host lied about places.
        o_answer := 'e'; of_host := other.host_id; o_beat := null;
      else
        o_answer := case when other.session_id = p_session and other.state = 's' then 'm' else 'd' end;
        if other.session_id <> p_session then other.taken_from := other.host_id; end if;
        of_host := coalesce(other.taken_from, me);
        if not p_places[k] = any (other.sent_to) then other.sent_to := other.sent_to || p_places[k]; end if;
        o_places := other.sent_to;
        update claim c set session_id = p_session, host_id = me, state = case o_answer when 'd' then 'd' else 's' end::"char",
          doubts = c.doubts + (other.session_id <> p_session)::integer, taken_from = other.taken_from, sent_to = other.sent_to
          where c.library_id = lib.id and c.sha256 = key_sha and c.mime = key_mime;
      end if;
      exit;
    end loop;
    if was_inserted and o_answer = 'm' then
      fresh_at := fresh_at || k;
      continue;
    elsif was_inserted then
      delete from claim c where c.library_id = lib.id and c.sha256 = key_sha and c.mime = key_mime;
    end if;
    if of_host is distinct from named_host then
      select h.name into o_host from host h where h.id = of_host;
      named_host := of_host;
    end if;
    return next;
  end loop;
  -- The row of the service, which all claims lock, is locked last, so that it is held only for the commit. Claims beyond a limit are deleted
  -- again. Claims of hosts without a limit count as well, for the hosts that have one.
  fresh := cardinality(fresh_at);
  if fresh > 0 then
    o_resource := null; o_outcome := null; o_code := null; o_message := null; o_until := null; o_is_set_aside := null; o_places := null;
    o_host := null; o_session := null; o_beat := null; o_answer := 'm';
    for o_nth, o_last in
      select min(f.nth), max(f.nth) from unnest(fresh_at) with ordinality f (nth, place) group by f.nth - f.place
    loop
      return next;
    end loop;
    perform 1 from service s where s.id = lib.service_id for update;
    select * into left_over from room_1(lib.service_id, p_per_day, now_at);
    select array_agg(f order by p_rank[f]) into fresh_at from unnest(fresh_at) f;
    for nth in least(left_over.room, fresh, p_at_most)::integer + 1 .. fresh loop
      o_nth := fresh_at[nth]; o_last := o_nth;
      delete from claim c where c.library_id = lib.id and c.sha256 = p_sha256[o_nth] and c.mime = mimes[p_mime[o_nth]];
      o_answer := case when nth > left_over.room then 'h' else 'f' end;
      o_until := case when nth > left_over.room then milliseconds_1(left_over.frees_at) end;
      return next;
    end loop;
    fresh := least(fresh, left_over.room, p_at_most);
    if fresh > 0 then
      delete from spend s where s.service_id = lib.service_id and s.slot < now_at - interval '25 hours';
      insert into spend as s values (lib.service_id, now_slot, fresh)
        on conflict (service_id, slot) do update set n = s.n + excluded.n;
    end if;
  end if;
end $$;

-- Answers like claim_1, but claims nothing.
create function peek_1(
  p_origin text, p_tenant bigint, p_remote text, p_mimes text[], p_sha256 bytea[], p_mime integer[], p_per_day bigint
) returns table (
  o_nth integer, o_last integer, o_answer "char", o_resource text, o_outcome "char", o_code text, o_message text, o_until bigint, o_is_set_aside boolean,
  o_places bytea[], o_host text, o_session bigint, o_beat bigint
) language plpgsql security definer set search_path = shelfd, pg_temp
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  now_at timestamptz := clock_timestamp(); lib library := library_1(p_origin, p_tenant, p_remote, false);
  mimes smallint[] := mimes_1(p_mimes, false); other record; left_over record; fresh integer := 0; is_over boolean; of_host integer;
begin
  select * into left_over from room_1(lib.service_id, p_per_day, now_at);
  for k in 1 .. cardinality(p_sha256) loop
    o_nth := k; o_last := k; of_host := null; o_resource := null; o_outcome := null; o_code := null; o_message := null; o_until := null;
    o_is_set_aside := null; o_places := null; o_session := null; o_beat := null; o_host := null;
    select c.resource_id, c.outcome, c.host_id into o_resource, o_outcome, of_host from content c
      where c.library_id = lib.id and c.sha256 = p_sha256[k] and c.mime = mimes[p_mime[k]];
    if found then o_answer := 's';
    else
      select x.code, x.message, milliseconds_1(x.retry_at), x.is_set_aside, x.host_id
        into o_code, o_message, o_until, o_is_set_aside, of_host from refusal x
        where x.library_id = lib.id and x.sha256 = p_sha256[k] and x.mime = mimes[p_mime[k]]
          and (x.is_set_aside or x.retry_at is null or x.retry_at > now_at);
      if found then o_answer := 'r';
      else
        select c.host_id, c.sent_to, s.public_id, s.beat, s.id is null or s.is_closed is_over into other
          from claim c left join session s on s.id = c.session_id
          where c.library_id = lib.id and c.sha256 = p_sha256[k] and c.mime = mimes[p_mime[k]];
        if found then
          of_host := other.host_id;
          if other.is_over then o_answer := 'd'; o_places := other.sent_to;
          else o_answer := 'e'; o_session := other.public_id; o_beat := other.beat; end if;
        elsif p_per_day is not null and fresh >= left_over.room then o_answer := 'h'; o_until := milliseconds_1(left_over.frees_at);
        else o_answer := 'm'; fresh := fresh + 1; end if;
      end if;
    end if;
    select h.name into o_host from host h where h.id = of_host;
    return next;
  end loop;
end $$;

-- Ends of uploads ---------------------------------------------------------------------------------------------------------------------

-- Settles a usual batch of settle_1 by a few statements: only first receipts of contents that this host had claimed, and outcomes. For any
-- other batch it returns false and changes nothing. Locks that are not taken in the order of the keys are not waited for.
create function settle_receipts_1(
  p_host integer, p_libraries integer[], p_mimes smallint[], p_has_refusals boolean, p_library integer[], p_session bigint[], p_sha256 bytea[],
  p_mime integer[], p_size bigint[], p_kind "char"[], p_resource text[], p_outcome "char"[]
) returns boolean language plpgsql as $$
declare receipts bigint; n bigint; is_second boolean;
begin
  select count(*) filter (where k <> 'o') into receipts from unnest(p_kind) k having bool_and(k in ('c', 'd', 'a', 'o'));
  if not found then return false; end if;
  with gone as (
    delete from claim c using (
      select e.nth, e.session, e.kind, found.ctid from unnest(p_library, p_sha256, p_mime, p_session, p_kind) with ordinality
        e (library, sha256, mime, session, kind, nth) cross join lateral (
          select x.ctid from claim x
            where x.library_id = p_libraries[e.library] and x.sha256 = e.sha256 and x.mime = p_mimes[e.mime] offset 0
        ) found where e.kind <> 'o' order by e.nth
    ) e where c.ctid = e.ctid and c.session_id = e.session and c.host_id = p_host
      returning e.kind = 'd' and c.doubts > 0 is_second
  ) select count(*), bool_or(g.is_second) into n, is_second from gone g;
  if n < receipts or is_second then raise exception using errcode = 'SF000'; end if;
  insert into content (library_id, sha256, mime, size, resource_id, outcome, host_id)
    select p_libraries[e.library], e.sha256, p_mimes[e.mime], e.size, e.resource, e.outcome, p_host
      from unnest(p_library, p_sha256, p_mime, p_size, p_kind, p_resource, p_outcome) with ordinality
        e (library, sha256, mime, size, kind, resource, outcome, nth) where e.kind <> 'o' order by e.nth
    on conflict do nothing;
  get diagnostics n = row_count;
  if n < receipts then raise exception using errcode = 'SF000'; end if;
  if receipts < cardinality(p_kind) then
    -- In this order, the last outcome of a content is the one that stays.
    update content c set outcome = e.outcome from (
      select e.outcome, found.ctid from unnest(p_library, p_sha256, p_mime, p_kind, p_resource, p_outcome) with ordinality
        e (library, sha256, mime, kind, resource, outcome, nth) cross join lateral (
          select x.ctid from content x
            where x.library_id = p_libraries[e.library] and x.sha256 = e.sha256 and x.mime = p_mimes[e.mime]
              and x.resource_id = e.resource and x.outcome <> e.outcome for update nowait
        ) found where e.kind = 'o' and e.outcome <> 'p' order by e.nth desc
    ) e where c.ctid = e.ctid;
  end if;
  if p_has_refusals and receipts > 0 then
    delete from refusal r using (
      select found.ctid from unnest(p_library, p_sha256, p_mime, p_kind) with ordinality e (library, sha256, mime, kind, nth)
        cross join lateral (
          select x.ctid from refusal x
            where x.library_id = p_libraries[e.library] and x.sha256 = e.sha256 and x.mime = p_mimes[e.mime] for update nowait
        ) found where e.kind <> 'o' order by e.nth
    ) e where r.ctid = e.ctid;
  end if;
  return true;
exception when sqlstate 'SF000' or lock_not_available then
  return false;
end $$;

-- Settles a batch. Kinds: c created, d duplicate, a adopted, o ingestion has this outcome, r refused, n not sent, b absent according to a
-- complete search, x in doubt, t a person wants a refused content tried again, i a person has set it aside. The rows must be sorted by
-- library and key. Returns the rows about which host and ledger disagree: another session has taken over the claim, or the content has
-- another resource. A receipt that the ledger already has is no disagreement. A closed session can still settle for its host.
create function settle_1(
  p_own_session bigint, p_batch bigint, p_origins text[], p_tenants bigint[], p_remotes text[], p_mimes text[],
  p_library integer[], p_session bigint[], p_sha256 bytea[], p_mime integer[], p_size bigint[], p_kind "char"[], p_resource text[],
  p_outcome "char"[], p_code text[], p_message text[], p_retry_ms bigint[], p_is_set_aside boolean[]
) returns table (o_nth integer, o_is_late boolean, o_resource text) language plpgsql security definer
set search_path = shelfd, pg_temp set lock_timeout = '20s'
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  p_host integer; done bigint; libraries integer[] := '{}'; mimes smallint[]; has_refusals boolean; lib integer; was record; is_sent boolean; is_own boolean; is_stored boolean;
  known text; known_host integer; is_repeated boolean; key_sha bytea; key_mime smallint; unspent jsonb := '{}'; unspent_at bigint; unspent_service integer;
begin
  perform be_durable_1();
  perform check_size_1(greatest(cardinality(p_sha256), cardinality(p_origins), cardinality(p_mimes)));
  select h.id, h.settled into p_host, done from session s join host h on h.id = s.host_id
    where s.id = p_own_session and s.role = session_user for update of h;
  if not found then raise exception 'the session is over' using errcode = 'SF001'; end if;
  if done < p_batch - 1 then
    raise exception 'the ledger has settled % batches of this host, which settles number %', done, p_batch
      using errcode = 'SF003';
  end if;
  if done >= p_batch then return; end if;
  for k in 1 .. cardinality(p_origins) loop
    libraries := libraries || (library_1(p_origins[k], p_tenants[k], p_remotes[k], true)).id;
  end loop;
  mimes := mimes_1(p_mimes, true);
  has_refusals := exists (select from refusal);
  if settle_receipts_1(p_host, libraries, mimes, has_refusals, p_library, p_session, p_sha256, p_mime, p_size, p_kind, p_resource, p_outcome) then
    update host h set settled = p_batch where h.id = p_host;
    return;
  end if;
  for k in 1 .. cardinality(p_sha256) loop
    o_nth := k; o_resource := null; o_is_late := false;
    lib := libraries[p_library[k]]; key_sha := p_sha256[k]; key_mime := mimes[p_mime[k]];
    if p_kind[k] = 't' then
      -- A claim stays as it is: a content that is in doubt or being sent does not become free because a person wants it tried again.
      delete from refusal x where x.library_id = lib and x.sha256 = key_sha and x.mime = key_mime;
      continue;
    end if;
    if p_outcome[k] <> 'p' then
      update content c set outcome = p_outcome[k] where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime
        and c.resource_id = p_resource[k] and c.outcome <> p_outcome[k];
    end if;
    continue when p_kind[k] = 'o';
    is_sent := p_kind[k] in ('c', 'd', 'a');
    if is_sent then
      delete from claim c
        where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime and c.session_id = p_session[k] and c.host_id = p_host
        returning c.state, c.doubts, c.slot into was;
    else
      select c.state, c.doubts, c.slot into was from claim c
        where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime and c.session_id = p_session[k] and c.host_id = p_host
          and p_kind[k] <> 'i' for update;
    end if;
    is_own := found;
    if is_own and is_sent then
      null;
    elsif not is_own then
      perform from claim c where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime for update;
      o_is_late := found or exists (select from content c where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime);
    elsif p_kind[k] = 'n' and was.state = 'd' then
      -- No host has searched for it yet, so the next one that asks does.
      update claim c set session_id = 0 where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime;
    elsif p_kind[k] in ('b', 'x') then
      update claim c set state = case p_kind[k] when 'b' then 's' else 'd' end::"char", doubts = c.doubts + (p_kind[k] = 'x')::integer
        where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime;
    else
      delete from claim c where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime;
      if p_kind[k] = 'n' and was.slot is not null then
        -- As a number, because the text of a time depends on the settings of the role.
        select l.service_id || ' ' || milliseconds_1(was.slot) into known from library l where l.id = lib;
        unspent := jsonb_set(unspent, array[known], to_jsonb(coalesce((unspent ->> known)::bigint, 0) + 1));
      end if;
    end if;
    if is_sent then
      insert into content (library_id, sha256, mime, size, resource_id, outcome, host_id)
        values (lib, key_sha, key_mime, p_size[k], p_resource[k], p_outcome[k], p_host) on conflict do nothing;
      is_stored := found;
      if not is_stored then
        -- A host repeats receipts that the ledger may have lost, so this one may be a repetition.
        select c.resource_id, c.host_id into known, known_host from content c
          where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime;
        is_repeated := not is_own and known = p_resource[k] and known_host = p_host;
        if not is_repeated then
          -- If two hosts report a second send at the same time, the later one waits here until the first one has counted it.
          perform from content c where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime
            and (c.resource_id <> p_resource[k] or p_kind[k] = 'd') for update;
          is_repeated := exists (
            select from extra_send e where e.library_id = lib and e.sha256 = key_sha and e.mime = key_mime
              and e.resource_id = p_resource[k] and (e.host_id = p_host or known <> p_resource[k])
          );
        end if;
        o_is_late := not (is_own or is_repeated);
        if not is_repeated then o_resource := nullif(known, p_resource[k]); end if;
      end if;
      -- The content was sent more than once: it has another resource, or a second location of the same resource.
      if o_resource is not null or (p_kind[k] = 'd' and (o_is_late or (is_own and was.doubts > 0))) then
        insert into extra_send (library_id, sha256, mime, host_id, session_id, resource_id)
          select lib, key_sha, key_mime, p_host, p_session[k], p_resource[k]
            where (select count(*) from extra_send e where e.host_id = p_host) < 10000;
      end if;
      -- No host needs to send it now. A host that has claimed it learns that it was late when it settles.
      if not is_own then delete from claim c where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime; end if;
      if has_refusals then
        delete from refusal x where x.library_id = lib and x.sha256 = key_sha and x.mime = key_mime;
      end if;
    elsif p_kind[k] in ('r', 'i') then
      insert into refusal as x (library_id, sha256, mime, code, message, count, retry_at, is_set_aside, host_id)
        values (lib, key_sha, key_mime, p_code[k], p_message[k], 1, to_timestamp(p_retry_ms[k] / 1000.0), p_is_set_aside[k], p_host)
        on conflict (library_id, sha256, mime) do update set code = excluded.code, message = excluded.message, count = x.count + 1,
          retry_at = excluded.retry_at, is_set_aside = excluded.is_set_aside, host_id = excluded.host_id;
    end if;
    if p_kind[k] <> 'i' and (o_is_late or o_resource is not null) then return next; end if;
  end loop;
  update host h set settled = p_batch where h.id = p_host;
  -- Contents that were not sent no longer count. This comes last, because claims of all hosts update these rows; the order is the same for
  -- all hosts, so that none wait for each other.
  for known, unspent_service, unspent_at in
    select u.k, split_part(u.k, ' ', 1)::integer, split_part(u.k, ' ', 2)::bigint from jsonb_object_keys(unspent) u (k) order by 2, 3
  loop
    update spend s set n = s.n - (unspent ->> known)::bigint where s.service_id = unspent_service and s.slot = to_timestamp(unspent_at / 1000.0);
  end loop;
end $$;

-- Ingestion ------------------------------------------------------------------------------------------------------------------------------

-- Decides who polls resources of other hosts. Answers: f final, m this session polls it because the host that did is gone, e another session
-- polls it. Unknown resources are left out. It waits for no lock: if two calls take over a resource at the same time, one answers e without
-- a session. The commit need not be durable: after a crash, two hosts may poll the same resource.
create function take_follow_ups_1(p_session bigint, p_origin text, p_tenant bigint, p_remote text, p_resource text[]) returns table (
  o_resource text, o_answer "char", o_outcome "char", o_session bigint, o_beat bigint
) language plpgsql security definer set search_path = shelfd, pg_temp set lock_timeout = '20s'
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare lib library := library_1(p_origin, p_tenant, p_remote, false); was record;
begin
  perform check_session_1(p_session);
  perform check_size_1(cardinality(p_resource));
  foreach o_resource in array p_resource loop
    o_answer := 'm'; o_session := null; o_beat := null;
    select c.sha256, c.mime, c.outcome, c.followed_by, coalesce(c.followed_by, h.session_id) follower into was
      from content c left join host h on h.id = c.host_id
      where c.library_id = lib.id and c.resource_id = o_resource limit 1;
    continue when not found;
    o_outcome := was.outcome;
    if was.outcome <> 'p' then o_answer := 'f';
    elsif was.follower is distinct from p_session then
      select s.public_id, s.beat into o_session, o_beat from session s where s.id = was.follower and not s.is_closed;
      if found then o_answer := 'e';
      else
        perform from content c where c.library_id = lib.id and c.sha256 = was.sha256 and c.mime = was.mime
          and c.followed_by is not distinct from was.followed_by for update skip locked;
        if not found then o_answer := 'e';
        else
          update content c set followed_by = p_session
            where c.library_id = lib.id and c.sha256 = was.sha256 and c.mime = was.mime;
        end if;
      end if;
    end if;
    return next;
  end loop;
end $$;

-- Hosts, for people -------------------------------------------------------------------------------------------------------------------

-- Replaces what the host reported about its mirrors; null leaves problems or runs as they are. The commit need not be durable, because a
-- host reports again.
create function publish_1(
  p_session bigint, p_sent bigint, p_names text[], p_signs text[], p_waiting bigint[], p_problem_counts bigint[], p_states text[],
  p_problem_mirrors text[], p_problem_nths integer[], p_problem_sha256 bytea[], p_problems text[], p_run_starts bigint[], p_runs text[]
) returns void language plpgsql security definer set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
declare me integer := check_session_1(p_session);
begin
  if cardinality(p_names) > 1000 or cardinality(p_problems) > 10000 then
    raise exception 'more mirrors or problems than a host may report' using errcode = 'SF006';
  end if;
  insert into published_host as x (host_id, sent) values (me, p_sent)
    on conflict (host_id) do update set sent = excluded.sent, published_at = excluded.published_at;
  delete from published_mirror x where x.host_id = me and x.name <> all (p_names);
  insert into published_mirror as x
    select me, n.* from unnest(p_names, p_signs, p_waiting, p_problem_counts, p_states) n
    on conflict (host_id, name) do update
      set sign = excluded.sign, waiting = excluded.waiting, problems = excluded.problems, state = excluded.state
      where x.state <> excluded.state;
  if p_problems is not null then
    delete from published_problem x where x.host_id = me
      and not exists (select from unnest(p_problem_mirrors, p_problem_nths) n (mirror, nth) where n.mirror = x.mirror and n.nth = x.nth);
    insert into published_problem as x
      select me, n.* from unnest(p_problem_mirrors, p_problem_nths, p_problem_sha256, p_problems) n
      on conflict (host_id, mirror, nth) do update set sha256 = excluded.sha256, problem = excluded.problem
        where x.problem <> excluded.problem;
  end if;
  if p_runs is not null then
    delete from published_run x where x.host_id = me and x.nth > cardinality(p_runs);
    insert into published_run as x
      select me, n.nth, n.started_at, n.run from unnest(p_run_starts, p_runs) with ordinality n (started_at, run, nth)
      on conflict (host_id, nth) do update set started_at = excluded.started_at, run = excluded.run where x.run <> excluded.run;
  end if;
end $$;

-- Lists hosts. Claims are counted only with p_counts_claims, because each row is read; otherwise o_claims is null. A silent host did not end
-- its session, and had no beat for lease and grace period.
create function hosts_1(p_counts_claims boolean) returns table (
  o_id integer, o_name text, o_version text, o_seen bigint, o_is_open boolean, o_is_silent boolean, o_claims bigint, o_published bigint, o_sent bigint,
  o_done bigint, o_busy bigint, o_warned bigint, o_stopped bigint, o_waiting bigint, o_problems bigint
) language sql stable security definer set search_path = shelfd, pg_temp as $$
  select h.id, h.name, h.version, milliseconds_1(s.seen_at), s.id is not null and not s.is_closed,
    coalesce((s.is_lost or not s.is_closed) and is_silent_1(s.seen_at), false),
    case when p_counts_claims then coalesce(c.n, 0) end, milliseconds_1(p.published_at),
    case when p.published_at > clock_timestamp() - interval '24 hours' then p.sent else 0 end,
    coalesce(m.done, 0), coalesce(m.busy, 0), coalesce(m.warned, 0), coalesce(m.stopped, 0),
    coalesce(m.waiting, 0)::bigint, coalesce(m.problems, 0)::bigint
    from host h left join session s on s.id = h.session_id
    left join (select c.host_id, count(*) n from claim c where p_counts_claims group by c.host_id) c on c.host_id = h.id
    left join published_host p on p.host_id = h.id
    left join (
      select x.host_id, count(*) filter (where x.sign = '✓') done, count(*) filter (where x.sign = '→') busy,
        count(*) filter (where x.sign = '!') warned, count(*) filter (where x.sign = '✗') stopped,
        sum(x.waiting) waiting, sum(x.problems) problems
        from published_mirror x group by x.host_id
    ) m on m.host_id = h.id
    where not h.is_forgotten order by h.name, h.id $$;

-- Lists mirrors of a host; null: of all hosts.
create function mirrors_1(p_host integer) returns table (o_host_id integer, o_host text, o_state text)
language sql stable security definer set search_path = shelfd, pg_temp as $$
  select h.id, h.name, m.state from published_mirror m join host h on h.id = m.host_id
    where not h.is_forgotten and (p_host is null or h.id = p_host) order by h.name, h.id, m.name $$;

-- Lists problems; with p_sha256, only those of this content.
create function problems_1(p_host integer, p_sha256 bytea, p_limit integer) returns table (o_host_id integer, o_host text, o_problem text)
language sql stable security definer set search_path = shelfd, pg_temp as $$
  select h.id, h.name, p.problem from published_problem p join host h on h.id = p.host_id
    where not h.is_forgotten and (p_host is null or h.id = p_host) and (p_sha256 is null or p.sha256 = p_sha256)
    order by h.name, h.id, p.mirror, p.nth limit p_limit $$;

-- Lists runs, the newest first.
create function runs_1(p_host integer, p_limit integer) returns table (o_host_id integer, o_host text, o_run text)
language sql stable security definer set search_path = shelfd, pg_temp as $$
  select h.id, h.name, r.run from published_run r join host h on h.id = r.host_id
    where not h.is_forgotten and (p_host is null or h.id = p_host) order by r.started_at desc, h.name, h.id, r.nth limit p_limit $$;

-- What the ledger has about a content. Kinds: s stored, c claimed, d claimed and in doubt, r refused, x another send of a stored content.
create function content_1(p_sha256 bytea) returns table (
  o_kind "char", o_origin text, o_library text, o_mime text, o_host text, o_resource text, o_code text, o_message text, o_at bigint
) language sql stable security definer set search_path = shelfd, pg_temp set enable_seqscan = off as $$
  select f.kind, v.origin, l.remote_id, m.name, h.name, f.resource_id, f.code, f.message, milliseconds_1(f.at) from library l
    join service v on v.id = l.service_id
    cross join lateral (
      select 's'::"char" kind, c.mime, c.host_id, c.resource_id, null::text code, null::text message, c.stored_at at from content c
        where c.library_id = l.id and c.sha256 = p_sha256
      union all
      select case when c.state = 'd' or s.id is null or s.is_closed then 'd' else 'c' end::"char", c.mime, c.host_id, null, null, null, c.slot
        from claim c left join session s on s.id = c.session_id where c.library_id = l.id and c.sha256 = p_sha256
      union all
      select 'r'::"char", r.mime, r.host_id, null, r.code, r.message, r.retry_at from refusal r
        where r.library_id = l.id and r.sha256 = p_sha256
      union all
      select 'x'::"char", e.mime, e.host_id, e.resource_id, null, null, e.noticed_at from extra_send e
        where e.library_id = l.id and e.sha256 = p_sha256
    ) f
    left join mime m on m.id = f.mime left join host h on h.id = f.host_id
    order by v.origin, l.remote_id, m.name, f.kind, h.name $$;

-- Up to 100,000 contents are counted; for more, the number is the estimate of the planner.
create function totals_1() returns table (
  o_contents bigint, o_is_about boolean, o_claims bigint, o_doubts bigint, o_second_sends bigint, o_today bigint, o_lease_ms integer
) language sql stable security definer set search_path = shelfd, pg_temp as $$
  with estimate as (select greatest(t.reltuples, 0)::bigint n from pg_class t where t.oid = 'shelfd.content'::regclass),
    open as (
      select count(*) n, count(*) filter (where c.state = 'd' or s.id is null or s.is_closed) doubts
        from claim c left join session s on s.id = c.session_id
    )
  select case when e.n > 100000 then e.n else (select count(*) from content) end, e.n > 100000,
    o.n, o.doubts, (select count(*) from extra_send),
    (select coalesce(sum(s.n), 0) from spend s where s.slot > clock_timestamp() - interval '24 hours 10 minutes')::bigint,
    (select l.lease_ms from ledger l) from estimate e, open o $$;

create function second_sends_1() returns bigint language sql stable security definer set search_path = shelfd, pg_temp as $$
  select count(*) from extra_send $$;

-- Ends the session of a host that is not expected back; what it had claimed is in doubt. If the host comes back, it opens a new session, also
-- from an older state. Answers: f forgotten, r the host still runs, u there is no such host.
create function forget_host_1(p_host integer) returns "char" language plpgsql security definer
set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
begin
  perform be_durable_1();
  perform from session s where s.host_id = p_host and not s.is_closed and not is_silent_1(s.seen_at) for update;
  if found then return 'r'; end if;
  update session s set is_closed = true where s.host_id = p_host;
  update host h set is_forgotten = true, session_id = null where h.id = p_host and not h.is_forgotten;
  if not found then return 'u'; end if;
  delete from published_host x where x.host_id = p_host;
  delete from published_mirror x where x.host_id = p_host;
  delete from published_problem x where x.host_id = p_host;
  delete from published_run x where x.host_id = p_host;
  return 'f';
end $$;

-- Gives an order to a host. An equal order that the host has not taken yet is replaced, so that it is carried out once, as the last one.
create function give_order_1(p_host integer, p_kind text, p_mirror text) returns boolean language plpgsql security definer
set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
begin
  perform be_durable_1();
  perform from host h where h.id = p_host for no key update;
  if not found then return false; end if;
  delete from host_order o where o.host_id = p_host and o.kind = p_kind and o.mirror is not distinct from p_mirror;
  if (select count(*) from host_order o where o.host_id = p_host) >= 1000 then
    raise exception 'the host has 1000 orders that it has not taken yet' using errcode = 'SF006';
  end if;
  insert into host_order (host_id, kind, mirror) values (p_host, p_kind, p_mirror);
  return true;
end $$;

revoke all on all functions in schema shelfd from public;
