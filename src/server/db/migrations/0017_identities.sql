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
