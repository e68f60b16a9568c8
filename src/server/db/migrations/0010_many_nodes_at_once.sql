-- A rollout updates hundreds of nodes with one statement and changes nothing that snapshots are made of. Whether it did is
-- told by comparing sets: a join of the changed rows with themselves was planned for one row and looked at each pair.

create or replace function nodes_changed() returns trigger language plpgsql as $$
declare
  ids uuid[];
  seen_otherwise uuid[];
  former_roles text[];
begin
  ids := array(select id from (
    select id, roles, enrolled_at, revoked_at from new_rows except select id, roles, enrolled_at, revoked_at from old_rows) changed);
  if ids = '{}' then return null; end if;
  seen_otherwise := array(select id from (
    select id, roles, enrolled_at is not null and revoked_at is null from new_rows
    except select id, roles, enrolled_at is not null and revoked_at is null from old_rows) changed);
  former_roles := array(
    select distinct r from unnest(seen_otherwise) as i(id) join old_rows o on o.id = i.id cross join unnest(o.roles) as r);
  perform mark_whole(ids);
  perform mark_as_peers(seen_otherwise, former_roles);
  perform pg_notify('fairlead_snapshots', '');
  return null;
end $$;

-- What is moved here was in `snapshots` until the same moment: its node and its content are there.
alter table snapshot_history
  drop constraint snapshot_history_node_id_fkey,
  drop constraint snapshot_history_content_hash_fkey;
