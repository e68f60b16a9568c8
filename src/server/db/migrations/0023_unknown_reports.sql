-- Ends of commands that this database does not know, each noted once: it may have been restored from an older backup.
create table unknown_reports (
  node_id    uuid not null references nodes(id) on delete cascade,
  command_id uuid not null,
  noted_at   timestamptz not null default clock_timestamp(),
  primary key (node_id, command_id)
);
