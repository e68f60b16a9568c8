-- Incidents that are watched: what they are about besides node and rollout, and when the trouble was last seen.
alter table incidents
  add column subject varchar(200) not null default '',
  add column last_seen_at timestamptz;
drop index one_open_incident;
create unique index one_open_incident on incidents (category, node_id, rollout_id, subject) nulls not distinct
  where status <> 'resolved';

-- When the server stored a node's newest rejection, by its own clock: a node's clock may be wrong by days.
alter table node_heartbeats add column rejected_at timestamptz;
create function heartbeat_rejected() returns trigger language plpgsql as $$
begin
  new.rejected_at := case when new.last_rejection is null then null else clock_timestamp() end;
  return new;
end $$;
create trigger heartbeat_first_rejected before insert on node_heartbeats
  for each row when (new.last_rejection is not null) execute function heartbeat_rejected();
create trigger heartbeat_rejected before update of last_rejection on node_heartbeats
  for each row when (old.last_rejection is distinct from new.last_rejection) execute function heartbeat_rejected();
create index node_heartbeats_rejected on node_heartbeats (rejected_at) where rejected_at is not null;
