-- What hosts tell each other of their mirrors, for people: nothing here decides who sends a content. Texts in JSON are text, since any
-- character may be in a path. A host replaces what it told before.
set local search_path = shelfd;

create table published_host (
  host_id       integer primary key,
  -- Contents that it sent in the last 24 hours.
  sent          bigint not null,
  published_at  timestamptz not null default clock_timestamp()
);

create table published_mirror (
  host_id   integer not null,
  name      text collate "C" not null,
  sign      text not null,
  waiting   bigint not null,
  problems  bigint not null,
  state     text not null check (octet_length(state) <= 4096),
  primary key (host_id, name)
);

create table published_problem (
  host_id  integer not null,
  mirror   text collate "C" not null,
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

-- Replaces what the host told of its mirrors; problems and runs stay as they are where null is given. Not durable by itself: a host tells
-- again what a crash took.
create function publish_1(
  p_session bigint, p_sent bigint, p_names text[], p_signs text[], p_waiting bigint[], p_problem_counts bigint[], p_states text[],
  p_problem_mirrors text[], p_problem_nths integer[], p_problem_sha256 bytea[], p_problems text[], p_run_starts bigint[], p_runs text[]
) returns void language plpgsql security definer set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
declare me integer := check_session_1(p_session);
begin
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

-- Claims are counted one by one, so only where somebody wants to know; null otherwise.
create function hosts_2(p_counts_claims boolean) returns table (
  o_id integer, o_name text, o_version text, o_seen bigint, o_is_open boolean, o_claims bigint, o_published bigint, o_sent bigint,
  o_done bigint, o_busy bigint, o_warned bigint, o_stopped bigint, o_waiting bigint, o_problems bigint
) language sql stable security definer set search_path = shelfd, pg_temp as $$
  select h.id, h.name, h.version, milliseconds_1(s.seen_at), s.id is not null and not s.is_closed,
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

-- As totals_1, without counting more than a hundred thousand contents one by one.
create function totals_2() returns table (
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

-- As forget_host_1, and forgets what the host told.
create function forget_host_2(p_host integer) returns "char" language plpgsql security definer
set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
declare answer "char" := forget_host_1(p_host);
begin
  if answer = 'f' then
    delete from published_host x where x.host_id = p_host;
    delete from published_mirror x where x.host_id = p_host;
    delete from published_problem x where x.host_id = p_host;
    delete from published_run x where x.host_id = p_host;
  end if;
  return answer;
end $$;

revoke all on all functions in schema shelfd from public;
