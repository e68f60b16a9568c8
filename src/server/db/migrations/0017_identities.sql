-- A machine that was revoked and enrolls again is a new node with a new id (SNAP-20). Certificates, revocations,
-- assignments, versions and command sequences are keyed by the id: nothing of the old identity reaches the new one.

alter table nodes drop constraint nodes_name_key;
create unique index one_present_node_per_name on nodes (name) where revoked_at is null;
create index nodes_by_name on nodes (name, id);

-- The revoked node whose name this one took over.
alter table nodes add column replaces uuid references nodes;
create unique index one_successor_per_node on nodes (replaces);

-- Agents that spoke in a node's name, newest first. An agent's id is made at its start and never used again, so one that
-- was followed by another and speaks again runs on a second machine with a copied key.
alter table node_heartbeats
  add column instances jsonb not null default '[]',
  add column instance_returns timestamptz[] not null default '{}';
create index node_heartbeats_copied on node_heartbeats (node_id) where instance_returns <> '{}';

create function next_instances(known jsonb, coming jsonb) returns jsonb language sql volatile as $$
  select jsonb_agg(i.instance order by i.place) from (
    select coming || jsonb_build_object('heard_at', clock_timestamp()) as instance, 0 as place
    union all
    select k.value, k.ordinality from jsonb_array_elements(known) with ordinality k
    where k.value->>'id' <> coming->>'id' and k.ordinality <= 4
    order by place limit 4) i
$$;

-- Which families of snapshots the nodes that keep an endpoint's shard may keep; none named: every family.
alter table storage_endpoints add column families text[] not null default '{}';

create or replace function touch_storage_endpoints(changed jsonb) returns void language sql as $$
  insert into snapshot_dirty (node_id, scope_type)
  select distinct n.id, 'storage_directory'
  from (
    select jsonb_array_elements(jsonb_agg(e->'organization_id')) as organization,
      count(*) = 1 or count(distinct e - 'shard' - 'replicas' - 'families') > 1 as outside
    from jsonb_array_elements(changed) e group by e->>'id'
  ) c
  join nodes n on 'storage_config' = any(n.roles) or (c.outside and 'core_mesh' = any(n.roles))
  where n.enrolled_at is not null and n.revoked_at is null and (c.organization = 'null' or exists (
    select 1 from memberships m where m.node_id = n.id and m.organization_id = (c.organization #>> '{}')::uuid))
$$;
