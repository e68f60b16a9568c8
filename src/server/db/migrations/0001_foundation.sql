-- One site: its cluster, trust, operators, nodes, rollouts and the events of all of them.
-- Append-only: a later change is a later file. Private keys are in no table.

create table clusters (
  id          uuid primary key,
  epoch       bigint not null default 1,
  created_at  timestamptz not null default now(),
  only_one    boolean not null default true unique check (only_one)
);

-- Trust ------------------------------------------------------------------------------------------

create table trust_bundles (
  version     bigint primary key,
  frame       bytea not null,
  content     jsonb not null,
  created_at  timestamptz not null default now()
);

-- Operators --------------------------------------------------------------------------------------

create table api_keys (
  id          uuid primary key,
  name        text not null,
  key_hash    text not null unique,
  scopes      text[] not null default '{}',
  created_at  timestamptz not null default now(),
  revoked_at  timestamptz
);

-- Scopes are granted here and nowhere else: a token's own claims are not looked at.
create table oidc_grants (
  issuer      text not null,
  subject     text not null,
  scopes      text[] not null,
  granted_by  text not null,
  created_at  timestamptz not null default now(),
  primary key (issuer, subject)
);

create table sign_in_codes (
  code_hash   text primary key,
  user_name   text not null,
  scopes      text[] not null,
  expires_at  timestamptz not null
);

create table console_sessions (
  token_hash  text primary key,
  user_name   text not null,
  scopes      text[] not null,
  expires_at  timestamptz not null
);

-- Nodes ------------------------------------------------------------------------------------------

create table nodes (
  id                uuid primary key,
  name              text not null unique,
  chain_profile_id  varchar(100) not null,
  node_type         varchar(100) not null,
  roles             text[] not null,
  labels            jsonb not null default '{}',
  state             varchar(20) not null default 'active'
    check (state in ('active', 'maintenance', 'degraded', 'down', 'failed')),
  command_sequence  bigint not null default 0,
  assignment_version bigint not null default 0,
  enrolled_at       timestamptz,
  revoked_at        timestamptz,
  created_at        timestamptz not null default now()
);
create index nodes_by_profile on nodes (chain_profile_id, node_type);

create table enrollment_tokens (
  secret_hash  text primary key,
  node_id      uuid not null references nodes,
  expires_at   timestamptz not null,
  -- The key that used it: the same key may ask again after a lost answer, no other may.
  used_by_key  text,
  created_at   timestamptz not null default now()
);

create table node_certificates (
  serial      text primary key,
  node_id     uuid not null references nodes,
  key_hash    text not null,
  chain_pem   text not null,
  not_after   timestamptz not null,
  revoked_at  timestamptz,
  created_at  timestamptz not null default now()
);
create index node_certificates_by_node on node_certificates (node_id);

create table revocations (
  seq         bigserial primary key,
  node_id     uuid not null references nodes,
  reason      text,
  actor       text not null,
  created_at  timestamptz not null default now()
);

-- A replica whose lease has lapsed refuses agents by itself, so a revocation need not wait for it.
create table replicas (
  id              uuid primary key,
  lease_until     timestamptz not null,
  revocation_seq  bigint not null
);

-- Rewritten every few seconds per node: room on the page keeps the updates off the index.
create table node_heartbeats (
  node_id         uuid primary key,
  received_at     timestamptz not null,
  agent_version   text not null,
  applied         jsonb not null,
  programs        jsonb not null,
  last_rejection  jsonb
) with (fillfactor = 50);

create table node_config_state (
  node_id           uuid not null references nodes,
  chain_profile_id  varchar(100) not null,
  binary_version    varchar(50),
  fingerprint       text,
  updated_at        timestamptz not null default now(),
  primary key (node_id, chain_profile_id)
);

-- Rollouts ---------------------------------------------------------------------------------------

create table rollout_groups (
  id                uuid primary key,
  chain_profile_id  varchar(100) not null,
  status            varchar(20) not null,
  failure_policy    varchar(20) not null check (failure_policy in ('partial_ok', 'rollback_all', 'manual')),
  component_order   jsonb not null,
  desired_versions  jsonb not null,
  strategy          varchar(20) not null,
  created_at        timestamptz not null default now()
);

create table rollouts (
  id                      uuid primary key,
  group_id                uuid references rollout_groups,
  component_index         int,
  chain_profile_id        varchar(100) not null,
  node_type               varchar(100) not null,
  upgrade_id              varchar(100),
  runtime                 varchar(20) not null,
  binary_name             varchar(100) not null,
  source_version          varchar(50) not null,
  target_version          varchar(50) not null,
  target_binary_url       text not null,
  target_binary_checksum  text not null check (target_binary_checksum <> ''),
  manifest_content_hash   text not null,
  run                     jsonb not null,
  migration_type          varchar(20) not null,
  recovery_plan           text,
  strategy                varchar(20) not null,
  batch_size              int not null,
  batch_count             int not null,
  current_batch           int not null default -1,
  failure_threshold       double precision not null,
  health_wait_ms          bigint not null,
  health_until            timestamptz,
  status                  varchar(20) not null,
  pause_requested         boolean not null default false,
  cancel_requested        boolean not null default false,
  acknowledged_failures   int not null default 0,
  why                     jsonb,
  total_nodes             int not null,
  succeeded_nodes         int not null default 0,
  failed_nodes            int not null default 0,
  pending_nodes           int not null,
  intent_digest           text,
  intent_frame            bytea,
  intent_not_after        timestamptz,
  rollback_allowed        boolean not null,
  canary_seed             text not null,
  -- Raised by each step before it reads: a nudge names the generation it was sent in, and none is lost.
  generation              bigint not null default 0,
  wake_at                 timestamptz,
  created_by              text not null,
  created_at              timestamptz not null default now(),
  started_at              timestamptz,
  ended_at                timestamptz
);
create unique index one_active_rollout_per_profile on rollouts (chain_profile_id)
  where group_id is null and status in ('pending', 'running', 'paused', 'rolling_back');
create index rollouts_by_age on rollouts (created_at desc, id);
create index rollouts_to_wake on rollouts (wake_at) where wake_at is not null;

create table rollout_configs (
  rollout_id  uuid not null references rollouts,
  path        text not null,
  mode        text not null,
  sha256      text not null,
  primary key (rollout_id, path)
);

create table blobs (
  digest  text primary key,
  bytes   bytea not null
);

create table rollout_nodes (
  id                   uuid primary key default gen_random_uuid(),
  rollout_id           uuid not null references rollouts,
  node_id              uuid not null references nodes,
  batch_index          int not null,
  status               varchar(20) not null default 'pending',
  upgrade_phase        varchar(20),
  action_name          varchar(40),
  progress_pct         int not null default 0,
  direction            varchar(10) not null default 'forward',
  attempt_count        int not null default 0,
  command_id           uuid,
  proof                jsonb not null default '[]',
  previous_version     text,
  previous_binary_url  text,
  previous_checksum    text,
  error_code           text,
  error_message        text,
  launched_at          timestamptz,
  installed_at         timestamptz,
  ended_at             timestamptz,
  unique (rollout_id, node_id)
) with (fillfactor = 70);
create index rollout_nodes_by_batch on rollout_nodes (rollout_id, batch_index);
create index rollout_nodes_by_status on rollout_nodes (rollout_id, status);

-- What operators asked and agents reported: rows first, then a nudge. Consumed by the step that reads them.
create table rollout_signals (
  id               bigserial primary key,
  rollout_id       uuid not null references rollouts,
  kind             varchar(20) not null,
  actor            text not null,
  reason           text,
  idempotency_key  text not null unique,
  created_at       timestamptz not null default now(),
  consumed_at      timestamptz
);
create index rollout_signals_waiting on rollout_signals (rollout_id) where consumed_at is null;

create table upgrade_reports (
  id           bigserial primary key,
  report_id    uuid not null unique,
  rollout_id   uuid not null,
  node_id      uuid not null,
  command_id   uuid not null,
  body         jsonb not null,
  created_at   timestamptz not null default now(),
  consumed_at  timestamptz
);
create index upgrade_reports_waiting on upgrade_reports (rollout_id) where consumed_at is null;

-- Compiled authority ------------------------------------------------------------------------------

create table service_assignments (
  node_id           uuid not null references nodes,
  chain_profile_id  varchar(100) not null,
  kind              varchar(20) not null check (kind in ('upgrading', 'settled')),
  current_fp        text,
  target_fp         text not null,
  rollback_fp       text,
  intent_digest     text,
  rollout_id        uuid not null,
  primary key (node_id, chain_profile_id)
);

create table snapshots (
  node_id         uuid not null references nodes,
  scope_type      varchar(40) not null,
  authority_epoch bigint not null,
  config_version  bigint not null,
  frame           bytea not null,
  expires_at      timestamptz not null,
  created_at      timestamptz not null default now(),
  primary key (node_id, scope_type)
);

create table commands (
  command_id   uuid primary key,
  node_id      uuid not null references nodes,
  rollout_id   uuid not null references rollouts,
  sequence     bigint not null,
  frame        bytea not null,
  expires_at   timestamptz not null,
  answered_at  timestamptz,
  created_at   timestamptz not null default now(),
  unique (node_id, sequence)
);
create index commands_waiting on commands (node_id, sequence) where answered_at is null;

-- Events -----------------------------------------------------------------------------------------

create table events (
  id          bigserial primary key,
  at          timestamptz not null default now(),
  kind        varchar(40) not null,
  rollout_id  uuid,
  node_id     uuid,
  actor       text,
  data        jsonb not null
);
create index events_by_rollout on events (rollout_id, id) where rollout_id is not null;
create index events_by_node on events (node_id, id) where node_id is not null;
