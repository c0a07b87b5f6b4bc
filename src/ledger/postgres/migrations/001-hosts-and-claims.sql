-- What hosts of one ledger share. Hosts call the functions, whose names end in their version, and never touch a table. Paths are bytea,
-- since any bytes may be in them; texts that are compared have the collation "C". A closed session may have lost its row: claims whose
-- session is missing count as claims of a closed one. A host may be another's enemy: what one may leave behind is bounded.
create schema shelfd;
set local search_path = shelfd;

create table ledger (
  is_only     boolean primary key default true check (is_only),
  schema      integer not null,
  generation  uuid not null default gen_random_uuid(),
  lease_ms    integer not null,
  -- Where it was created (place_1): elsewhere it may lack what hosts did.
  created_on  text
);

-- A service and tenant: limits are common to its libraries. Its row is the lock of what may still be spent. Numbers of services, libraries and
-- MIME types come from no sequence (lock_names_1), which calls that are rolled back would use up.
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

-- Numbers of hosts and sessions are random: a restored ledger never gives out a number again that somebody else still uses.
create table host (
  id          integer primary key default 1 + floor(random() * 2147483646)::integer,
  key         text collate "C" not null unique check (octet_length(key) <= 64),
  name        text not null check (octet_length(name) <= 500),
  version     text not null check (octet_length(version) <= 64),
  made_by     name not null default session_user,
  session_id  bigint,
  -- The number of the last batch that was settled.
  settled     bigint not null default 0,
  is_forgotten boolean not null default false,
  -- What distinguishes the state of a host from a copy of it; null: unknown.
  place       text collate "C" check (octet_length(place) <= 255)
);

create function random_number_1() returns bigint language sql as $$
  select ('x' || left(digits, 12) || right(digits, 4))::bit(64)::bigint & 9223372036854775807
    from (select replace(gen_random_uuid()::text, '-', '') digits) random $$;

-- The number of a session is the secret of its host, also where all hosts have one role; others see public_id.
create table session (
  id           bigint primary key,
  public_id    bigint not null unique default random_number_1(),
  -- Who opened it: only this role may use it.
  role         name not null default session_user,
  host_id      integer not null,
  previous_id  bigint,
  -- Where it was opened: on another generation or timeline, the ledger may lack what the session did.
  generation   text not null,
  timeline     integer not null,
  beat         bigint not null default 0,
  seen_at      timestamptz not null default clock_timestamp(),
  is_closed    boolean not null default false,
  -- Another host closed it, since it was silent.
  is_lost      boolean not null default false,
  -- The service to which it uploads or whose ingestion it waits for, by its last beat.
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
  -- The session that polls it in place of the host that sent it; null: that host.
  followed_by  bigint,
  primary key (library_id, sha256, mime)
);
-- Without library_id: on a small table the planner would take it for looks by key, and keep to it for the life of a connection.
create index on content using hash (resource_id);

-- state: s may be sent by its session, d in doubt, whose session looks first. Small: only what is open.
create table claim (
  library_id  integer not null,
  sha256      bytea not null check (octet_length(sha256) = 32),
  mime        smallint not null,
  -- 0: nobody's, to be taken over by whoever asks next.
  session_id  bigint not null,
  host_id     integer not null,
  state       "char" not null,
  doubts      integer not null default 0,
  -- The host that it was taken over from.
  taken_from  integer,
  -- Where it counts against the limit of a day.
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

-- Contents that were claimed in ten minutes.
create table spend (service_id integer not null, slot timestamptz not null, n bigint not null, primary key (service_id, slot));

create table host_order (
  id        bigint generated always as identity primary key,
  host_id   integer not null,
  kind      text not null check (kind in ('pause', 'resume', 'sync')),
  mirror    text check (octet_length(mirror) <= 1024),
  given_at  timestamptz not null default clock_timestamp()
);
create index on host_order (host_id);

-- What a service asked each host for (`Retry-After`). It ends by the clock of the ledger, but is never longer than it was asked for.
create table service_wait (
  host_id    integer primary key,
  origin     text collate "C" not null check (octet_length(origin) <= 2048),
  asked_at   timestamptz not null,
  length_ms  bigint not null
);

-- What hosts report of their mirrors, for people: nothing of it decides who sends a content. Texts in JSON are text, since any
-- character may be in a path. A host replaces what it reported before.
create table published_host (
  host_id       integer primary key,
  -- Contents that it sent in the last 24 hours.
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

-- What the functions share ------------------------------------------------------------------------------------------------------------

-- 0 where the system does not say it.
create function cluster_1() returns bigint language plpgsql stable as $$
begin
  return (select c.system_identifier from pg_control_system() c);
exception when insufficient_privilege or undefined_function or feature_not_supported then return 0;
end $$;

-- A dump that is restored makes a table with another number, or, in a server that was set up as the one before, is on another cluster.
create function generation_1() returns text language sql stable as $$
  select concat_ws('-', l.generation, shelfd.cluster_1(), 'shelfd.ledger'::regclass::oid) from shelfd.ledger l $$;

-- 0 where the system does not say it.
create function timeline_1() returns integer language plpgsql stable as $$
begin
  return ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer;
exception when others then return 0;
end $$;

create function place_1() returns text language sql stable as $$ select generation_1() || '/' || timeline_1() $$;

-- What is acknowledged is durable: for this transaction, whatever the default is.
create function be_durable_1() returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then perform set_config('synchronous_commit', 'on', true); end if;
end $$;

-- What a role of its own may leave behind at most; where all hosts have one role, all of them together.
create function check_room_1(p_what text, p_count bigint, p_most bigint) returns void language plpgsql as $$
begin
  if p_count >= p_most then
    raise exception 'role "%" has left % %, and no more are kept', session_user, p_most, p_what using errcode = 'SF006';
  end if;
end $$;

-- Held by who gives a number to a service, a library or a MIME type, before anything that others wait for. A lock of a table, since any role may take
-- one by pg_advisory_lock.
create function lock_names_1() returns void language sql as $$ lock table shelfd.mime in share row exclusive mode $$;

create function library_1(p_origin text, p_tenant bigint, p_remote text, p_may_create boolean) returns library language plpgsql as $$
declare found_service integer; result library;
begin
  select s.id into found_service from service s where s.origin = p_origin and s.tenant_id = p_tenant;
  select * into result from library l where l.service_id = found_service and l.remote_id = p_remote;
  if found or not p_may_create then return result; end if;
  perform lock_names_1();
  -- By newer snapshots: somebody may have made them meanwhile.
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

-- Null for those that are unknown.
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

-- Throws for a call of more than a host makes.
create function check_size_1(p_count integer) returns void language plpgsql as $$
begin
  if p_count > 500 then raise exception 'more than 500 rows in a call' using errcode = 'SF006'; end if;
end $$;

-- Had a session no beat for lease and grace? After the clock was set back, the caller alone knows.
create function is_silent_1(p_seen_at timestamptz) returns boolean language sql stable as $$
  select p_seen_at < clock_timestamp() - make_interval(secs => l.lease_ms / 500.0) or p_seen_at > clock_timestamp() from ledger l $$;

-- Throws for a session that is closed, that was opened before the ledger changed over to another timeline, or that is another role's.
create function check_session_1(p_session bigint) returns integer language plpgsql as $$
declare s session;
begin
  select * into s from session x where x.id = p_session and x.role = session_user for key share;
  if not found or s.is_closed or s.generation <> generation_1() or s.timeline <> timeline_1() then
    raise exception 'the session is over' using errcode = 'SF001';
  end if;
  if s.beat = 0 then
    -- open_1 replaces a session that nobody has used: from now on, this one is used.
    update session x set beat = 1 where x.id = p_session and x.beat = 0 and not x.is_closed;
    perform 1 from session x where x.id = p_session and not x.is_closed;
    if not found then raise exception 'the session is over' using errcode = 'SF001'; end if;
  end if;
  return s.host_id;
end $$;

-- What is left of a limit at this moment, null without one, and when there is more: a slot counts for 24 hours after its end.
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

-- The place decides where it is known (not null): a state at another one is refused unless the host was forgotten. At the same one, a session
-- that the ledger does not know shows that the ledger went back, or that the state was restored there; but if the ledger's session was opened
-- from the state's last one, and used, somebody else did that with a copy (p_is_restored: the state may be older than that).
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
    -- Another session than the host's previous one: the answer to an earlier call was lost, and nobody has used that session; or the
    -- ledger has changed over to a state in which it does not know the previous one. Otherwise, another process opened it.
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

-- p_taken: the last order that the host has carried out. p_wait_ms: what the service at p_origin asked this host (null: nothing); others wait an hour
-- of it at most, and learn of the rest later. o_busy_others: sessions of others that use this service and are not silent; a clock counts here, as for
-- limits, since it does not decide who sends. A row without an order if there is none.
create function renew_1(p_session bigint, p_taken bigint, p_origin text, p_wait_ms bigint, p_is_busy boolean) returns table (
  o_is_ours boolean, o_order bigint, o_kind text, o_mirror text, o_wait_ms bigint, o_busy_others integer
) language plpgsql security definer set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
declare h integer; others integer;
begin
  -- Durable as well: after a crash, others must not see an older beat than the one that the host counts its lease from.
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

-- The caller has seen this very beat for lease and grace, by its own clock, or says so: the clock of the ledger agrees.
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

-- Answers: m mine, d mine and in doubt, s stored, r refused, e elsewhere, h held, f free: more than p_at_most (null: no limit). Contents must
-- be sorted by key, each once, p_mimes by name. A row is about the contents o_nth to o_last; a later row about the same content counts. What
-- limits leave room for is claimed in the order of p_rank.
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
  -- OFFSET 0 keeps a look from becoming a join, for which the planner scans whole libraries where the table was small when it was planned.
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
  -- By a newer snapshot: somebody may have settled some between the look and the claim.
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
    -- Twice if need be: somebody may have settled it between the look and the claim, which the second look sees by a newer snapshot.
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
        -- Settled or claimed at this moment: the caller asks again.
        o_answer := 'e';
        select c.host_id into of_host from claim c where c.library_id = lib.id and c.sha256 = key_sha and c.mime = key_mime;
        exit;
      end if;
      -- By a newer snapshot than the one of the claim, which may have changed hands while it was locked.
      select s.beat, s.public_id into o_beat, other_number from session s where s.id = other.session_id and not s.is_closed;
      if found and other.session_id <> p_session then
        o_answer := 'e'; of_host := other.host_id; o_session := other_number;
      elsif other.session_id = p_session and other.state = 's' and p_places[k] = any (other.sent_to) then
        o_answer := 'm';
      elsif sent_bytes_1(other.sent_to) + octet_length(p_places[k]) > 4194304 then
        -- It was taken over again and again, or somebody lied.
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
  -- The lock that all claims share is taken last, and held only for the commit. What exceeds the limit is given back. What hosts without a
  -- limit claim counts for the others.
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

-- As claim_1 would answer, without any claim.
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

-- Settles what settle_1 gets if it is as usual, by a few statements: first receipts of contents that this host had claimed, and outcomes.
-- Otherwise returns false, and has changed nothing. It waits for no lock that is not taken in the order of the keys.
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
    -- In this order, the last outcome of a content counts.
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

-- Kinds: c created, d duplicate, a adopted, o its ingestion has this outcome, r refused, n not sent, b absent by a complete look, x in doubt,
-- t refused no more: somebody wants it tried again, i set aside by somebody. Ends must be sorted by
-- library and key. Returns what is not as the host thinks: another session took the claim over, or the content has another resource. Receipts
-- that the ledger had before are no longer odd. A session that is over settles as well, for its own host.
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
      -- A claim stays as it is: what is in doubt or on its way is not free because somebody wants it tried again.
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
      -- Nobody has looked for it: whoever asks next does.
      update claim c set session_id = 0 where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime;
    elsif p_kind[k] in ('b', 'x') then
      update claim c set state = case p_kind[k] when 'b' then 's' else 'd' end::"char", doubts = c.doubts + (p_kind[k] = 'x')::integer
        where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime;
    else
      delete from claim c where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime;
      if p_kind[k] = 'n' and was.slot is not null then
        -- As a number: the text of a time is as the role has it.
        select l.service_id || ' ' || milliseconds_1(was.slot) into known from library l where l.id = lib;
        unspent := jsonb_set(unspent, array[known], to_jsonb(coalesce((unspent ->> known)::bigint, 0) + 1));
      end if;
    end if;
    if is_sent then
      insert into content (library_id, sha256, mime, size, resource_id, outcome, host_id)
        values (lib, key_sha, key_mime, p_size[k], p_resource[k], p_outcome[k], p_host) on conflict do nothing;
      is_stored := found;
      if not is_stored then
        -- A host repeats receipts that the ledger may have lost.
        select c.resource_id, c.host_id into known, known_host from content c
          where c.library_id = lib and c.sha256 = key_sha and c.mime = key_mime;
        is_repeated := not is_own and known = p_resource[k] and known_host = p_host;
        if not is_repeated then
          -- Two hosts may report a second send at once: the second one looks once the first one has counted it.
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
      -- Sent more than once: another resource, or a second location of the same one.
      if o_resource is not null or (p_kind[k] = 'd' and (o_is_late or (is_own and was.doubts > 0))) then
        insert into extra_send (library_id, sha256, mime, host_id, session_id, resource_id)
          select lib, key_sha, key_mime, p_host, p_session[k], p_resource[k]
            where (select count(*) from extra_send e where e.host_id = p_host) < 10000;
      end if;
      -- Nobody is to send it now: whoever has claimed it learns by its own end that it was late.
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
  -- What was not sent counts no more; last, since claims of all hosts change these rows, and in one order for all hosts.
  for known, unspent_service, unspent_at in
    select u.k, split_part(u.k, ' ', 1)::integer, split_part(u.k, ' ', 2)::bigint from jsonb_object_keys(unspent) u (k) order by 2, 3
  loop
    update spend s set n = s.n - (unspent ->> known)::bigint where s.service_id = unspent_service and s.slot = to_timestamp(unspent_at / 1000.0);
  end loop;
end $$;

-- Ingestion ------------------------------------------------------------------------------------------------------------------------------

-- Answers: f final, m this session polls it, since whoever did is gone, e another session does. Resources that are unknown are left out. It
-- waits for no lock: of two that take a resource over at the same time, one answers e without a session. Not durable by itself: what a crash
-- takes is polled by two.
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

-- Replaces what the host reported of its mirrors; problems and runs stay as they are where null is given. Not durable by itself: a host
-- reports again what a crash took.
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

-- Claims are counted one by one, so only where somebody wants to know; null otherwise. A silent host did not end its session, and had no beat
-- for lease and grace.
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

-- Null for all hosts.
create function mirrors_1(p_host integer) returns table (o_host_id integer, o_host text, o_state text)
language sql stable security definer set search_path = shelfd, pg_temp as $$
  select h.id, h.name, m.state from published_mirror m join host h on h.id = m.host_id
    where not h.is_forgotten and (p_host is null or h.id = p_host) order by h.name, h.id, m.name $$;

-- p_sha256: problems of this content alone.
create function problems_1(p_host integer, p_sha256 bytea, p_limit integer) returns table (o_host_id integer, o_host text, o_problem text)
language sql stable security definer set search_path = shelfd, pg_temp as $$
  select h.id, h.name, p.problem from published_problem p join host h on h.id = p.host_id
    where not h.is_forgotten and (p_host is null or h.id = p_host) and (p_sha256 is null or p.sha256 = p_sha256)
    order by h.name, h.id, p.mirror, p.nth limit p_limit $$;

-- The newest first.
create function runs_1(p_host integer, p_limit integer) returns table (o_host_id integer, o_host text, o_run text)
language sql stable security definer set search_path = shelfd, pg_temp as $$
  select h.id, h.name, r.run from published_run r join host h on h.id = r.host_id
    where not h.is_forgotten and (p_host is null or h.id = p_host) order by r.started_at desc, h.name, h.id, r.nth limit p_limit $$;

-- Kinds: s stored, c claimed, d claimed and in doubt, r refused, x another send of a stored content.
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

-- Contents are counted one by one up to a hundred thousand; beyond, the number is an estimate of the planner.
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

-- Ends the session of a host that will not come back: what it had claimed is in doubt. One that comes back all the same opens another, also
-- from an older state. Answers: f forgotten, r it still runs, u there is none.
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

-- An order that the host has not taken yet is given once, and is its last one then.
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
