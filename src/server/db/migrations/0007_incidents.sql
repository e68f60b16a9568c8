-- Health of nodes, incidents, and what is told to others.

-- Since when a node is in its state: what stays in maintenance for too long is found by it.
alter table nodes add column state_changed_at timestamptz not null default now();
create function node_state_changed() returns trigger language plpgsql as $$
begin
  new.state_changed_at := clock_timestamp();
  return new;
end $$;
create trigger node_state_changed before update of state on nodes
  for each row when (old.state is distinct from new.state) execute function node_state_changed();

-- What the evaluator remembers of a node between two looks. A node that has always been well has no row.
create table node_health (
  node_id        uuid primary key references nodes,
  well_since     timestamptz,
  ill_since      timestamptz,
  seen_restarts  bigint not null default 0,
  base_restarts  bigint not null default 0,
  base_at        timestamptz
);

-- Since when somebody looks without a gap: silence of nodes while nobody could hear them is not theirs.
create table health_watch (
  only_one       boolean primary key default true check (only_one),
  last_look_at   timestamptz not null,
  hearing_since  timestamptz not null
);

create table incidents (
  id               uuid primary key,
  category         varchar(40) not null,
  severity         varchar(20) not null check (severity in ('critical', 'warning')),
  status           varchar(20) not null default 'open' check (status in ('open', 'acknowledged', 'resolved')),
  node_id          uuid references nodes,
  rollout_id       uuid references rollouts,
  title            text not null,
  detail           jsonb not null default '{}',
  recovery_plan    text,
  opened_at        timestamptz not null default now(),
  acknowledged_at  timestamptz,
  acknowledged_by  text,
  resolved_at      timestamptz,
  resolved_by      text,
  note             text
);
-- The same trouble is one incident until it is resolved.
create unique index one_open_incident on incidents (category, node_id, rollout_id) nulls not distinct
  where status <> 'resolved';
create index incidents_by_age on incidents (opened_at desc, id desc);
create index incidents_unresolved_by_node on incidents (node_id) where status <> 'resolved';

create table webhooks (
  id             uuid primary key,
  name           varchar(100) not null unique,
  url            text not null,
  -- AES-256-GCM under a key from the keys folder, which is in no table: who has the database alone can sign nothing.
  sealed_secret  bytea not null,
  events         text[] not null,
  enabled        boolean not null default true,
  created_by     text not null,
  created_at     timestamptz not null default now()
);

-- One row per webhook and event; attempts are counted on it, so a delivery is never lost and seldom sent twice.
create table webhook_deliveries (
  id               uuid primary key,
  webhook_id       uuid not null references webhooks on delete cascade,
  -- Null for a test, which no event caused.
  event_id         bigint,
  kind             varchar(60) not null,
  body             jsonb not null,
  status           varchar(20) not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts         int not null default 0,
  next_attempt_at  timestamptz not null default now(),
  last_status      int,
  last_error       text,
  created_at       timestamptz not null default now(),
  delivered_at     timestamptz,
  unique (webhook_id, event_id, kind)
);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where status = 'pending';
create index webhook_deliveries_by_hook on webhook_deliveries (webhook_id, created_at desc, id desc);
create index webhook_deliveries_ended on webhook_deliveries (created_at) where status <> 'pending';

-- How far each reader of the events table has come.
create table event_cursors (
  reader    varchar(40) primary key,
  event_id  bigint not null
);
