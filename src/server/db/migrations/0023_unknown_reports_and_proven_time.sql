-- Ends of commands that this database does not know, each noted once: it may have been restored from an older backup.
create table unknown_reports (
  node_id    uuid not null references nodes(id) on delete cascade,
  command_id uuid not null,
  noted_at   timestamptz not null default clock_timestamp(),
  primary key (node_id, command_id)
);

-- When the clocks of the control plane last agreed, by the database's clock. A start long after it waits for nodes' clocks.
create table proven_time (
  only_one boolean primary key default true check (only_one),
  at       timestamptz not null
);
