-- What else hosts have in common: who polls a resource, and when the service asked all of them to wait; and what tells a host from its copy.
set local search_path = shelfd;

-- What distinguishes the state of a host from a copy of it.
alter table host add column place text collate "C";

-- The session that polls it in place of the host that sent it; null: that host.
alter table content add column followed_by bigint;

-- What a service asked one host for (`Retry-After`). It ends by the clock of the ledger, but is never longer than it was asked for.
create table service_wait (
  origin     text collate "C" primary key,
  asked_at   timestamptz not null,
  length_ms  bigint not null
);

create function wait_left_1(p_origin text) returns bigint language sql stable as $$
  select coalesce((select greatest(0, least(w.length_ms, w.length_ms - milliseconds_1(clock_timestamp()) + milliseconds_1(w.asked_at)))
    from service_wait w where w.origin = p_origin and w.asked_at <= clock_timestamp()), 0) $$;

-- As renew_1, with what the service at p_origin asked this host, and asked any host. A host keeps a longer wait than a week to itself.
create function renew_2(p_session bigint, p_taken bigint, p_origin text, p_wait_ms bigint) returns table (
  o_is_ours boolean, o_order bigint, o_kind text, o_mirror text, o_wait_ms bigint
) language plpgsql security definer set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
begin
  if p_wait_ms > wait_left_1(p_origin) then
    insert into service_wait as w values (p_origin, clock_timestamp(), least(p_wait_ms, 604800000))
      on conflict (origin) do update set asked_at = excluded.asked_at, length_ms = excluded.length_ms;
  end if;
  return query select r.*, wait_left_1(p_origin) from renew_1(p_session, p_taken) r;
end $$;

-- As open_1, but the place decides where it is known (not null): a state at another one is refused unless the host was forgotten, and at the
-- same one no other process can be; a session that the ledger does not know shows there that the ledger went back.
create function open_2(p_key text, p_name text, p_version text, p_previous bigint, p_place text)
returns table (
  o_session bigint, o_host integer, o_settled bigint, o_generation text, o_timeline integer, o_lease_ms integer, o_has_moved boolean
) language plpgsql security definer set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
declare known host;
begin
  select * into known from host h where h.key = p_key for update;
  if known.session_id is not null and known.place <> p_place then
    raise exception 'the state of host "%" is at another place', p_name using errcode = 'SF005';
  end if;
  return query select * from open_1(p_key, p_name, p_version, case when known.place = p_place then known.session_id else p_previous end);
  update host h set place = p_place where h.key = p_key and h.place is distinct from p_place and p_place is not null;
end $$;

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
  foreach o_resource in array p_resource loop
    o_answer := 'm'; o_session := null; o_beat := null;
    select c.sha256, c.mime, c.outcome, c.followed_by, coalesce(c.followed_by, h.session_id) follower into was
      from content c left join host h on h.id = c.host_id
      where c.library_id = lib.id and c.resource_id = o_resource limit 1;
    continue when not found;
    o_outcome := was.outcome;
    if was.outcome <> 'p' then o_answer := 'f';
    elsif was.follower is distinct from p_session then
      select s.id, s.beat into o_session, o_beat from session s where s.id = was.follower and not s.is_closed;
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

revoke all on all functions in schema shelfd from public;
