-- A machine that was revoked and enrolls again is a new node with a new id (SNAP-20). Certificates, revocations,
-- assignments, versions and command sequences are keyed by the id: nothing of the old identity reaches the new one.

alter table nodes drop constraint nodes_name_key;
create unique index one_present_node_per_name on nodes (name) where revoked_at is null;
create index nodes_by_name on nodes (name, id);

-- The revoked node whose name this one took over.
alter table nodes add column replaces uuid references nodes;
create unique index one_successor_per_node on nodes (replaces);
