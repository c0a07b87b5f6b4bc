-- What operators see of hosts: nothing here decides who sends a content.
set local search_path = shelfd;

-- Another host closed it, since it was silent.
alter table session add column is_lost boolean not null default false;

create or replace function close_silent_1(p_session bigint, p_beat bigint) returns boolean language plpgsql security definer
set search_path = shelfd, pg_temp set lock_timeout = '20s' as $$
begin
  perform be_durable_1();
  update session s set is_closed = true, is_lost = true where s.id = p_session and s.beat = p_beat and not s.is_closed;
  return found;
end $$;

-- Hosts that did not end their session, and had no beat for lease and grace.
create function silent_hosts_1() returns table (o_id integer) language sql stable security definer set search_path = shelfd, pg_temp as $$
  select h.id from host h join session s on s.id = h.session_id cross join ledger l
    where not h.is_forgotten and (s.is_lost or not s.is_closed)
      and s.seen_at < clock_timestamp() - make_interval(secs => l.lease_ms / 500.0) $$;

-- Whether open_1 would refuse a host with this key whose last session was p_previous (SF002).
create function is_in_use_1(p_key text, p_previous bigint) returns boolean language sql stable security definer
set search_path = shelfd, pg_temp as $$
  select exists (select from host h join session s on s.id = h.session_id where h.key = p_key and s.id is distinct from p_previous
    and not (s.beat = 0 and s.previous_id is not distinct from p_previous)
    and s.generation = generation_1() and s.timeline = timeline_1()) $$;

revoke all on all functions in schema shelfd from public;
