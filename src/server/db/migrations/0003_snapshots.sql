-- Everything a node may do comes from snapshots that are compiled from these rows (SNAP-3).

alter table clusters add column name text not null default 'site';

-- The model ----------------------------------------------------------------------------------------

create table organizations (
  id          uuid primary key default gen_random_uuid(),
  name        varchar(100) not null unique,
  created_at  timestamptz not null default now()
);

create table memberships (
  node_id          uuid not null references nodes on delete cascade,
  organization_id  uuid not null references organizations on delete cascade,
  primary key (node_id, organization_id)
);
create index memberships_by_organization on memberships (organization_id);

-- For the nodes with one of the roles (none named: every node) that are members of the organization (none: every node).
create table policies (
  id               uuid primary key default gen_random_uuid(),
  kind             varchar(20) not null check (kind in ('route', 'qos', 'degraded_mode')),
  name             varchar(100) not null,
  organization_id  uuid references organizations on delete cascade,
  roles            text[] not null default '{}',
  body             jsonb not null,
  updated_at       timestamptz not null default now(),
  unique (kind, name)
);

create table secret_refs (
  id               uuid primary key default gen_random_uuid(),
  name             varchar(100) not null unique,
  organization_id  uuid not null references organizations on delete cascade,
  ref              varchar(300) not null,
  updated_at       timestamptz not null default now()
);

create table services (
  id                uuid primary key default gen_random_uuid(),
  name              varchar(100) not null unique,
  organization_id   uuid not null references organizations on delete cascade,
  chain_profile_id  varchar(100),
  resources         text[] not null default '{}',
  connectors        text[] not null default '{}',
  secrets           text[] not null default '{}',
  -- Where ingress nodes find it; null: not reachable from outside.
  address           varchar(270),
  description       varchar(200),
  updated_at        timestamptz not null default now()
);
create index services_by_secret on services using gin (secrets);

create table service_nodes (
  service_id  uuid not null references services on delete cascade,
  node_id     uuid not null references nodes on delete cascade,
  primary key (service_id, node_id)
);
create index service_nodes_by_node on service_nodes (node_id);

create table storage_endpoints (
  id               uuid primary key default gen_random_uuid(),
  name             varchar(100) not null unique,
  organization_id  uuid references organizations on delete cascade,
  url              varchar(300) not null,
  shard            varchar(100),
  replicas         int not null default 1,
  updated_at       timestamptz not null default now()
);

-- Where a node is reached by its peers; set by operators, never claimed by the node.
create table peer_addresses (
  node_id  uuid primary key references nodes on delete cascade,
  address  varchar(270) not null
);

-- Authority ----------------------------------------------------------------------------------------

-- Public halves only. `bundle_version` is the first trust bundle that named the key.
create table signing_keys (
  key_id          varchar(64) primary key,
  authority       varchar(20) not null check (authority in ('root', 'online', 'release', 'publisher')),
  name            varchar(100) not null,
  algorithm       varchar(20) not null,
  public_key      text not null,
  scopes          text[] not null default '{}',
  profiles        text[] not null default '{}',
  valid_from      timestamptz,
  valid_until     timestamptz,
  state           varchar(20) not null
    check (state in ('proposed', 'introduced', 'active', 'retiring', 'retired', 'revoked')),
  bundle_version  bigint,
  retire_by       timestamptz,
  changed_at      timestamptz not null default now(),
  changed_by      text not null
);
create unique index one_active_online_key on signing_keys (authority) where authority = 'online' and state = 'active';

create table authority_revocations (
  seq         bigserial primary key,
  kind        varchar(30) not null check (kind in ('signing_key', 'node_identity', 'role_assignment',
                'service_assignment', 'peer', 'storage_endpoint', 'degraded_permission')),
  subject     varchar(100) not null,
  -- Null: for every node.
  node_id     uuid references nodes on delete cascade,
  reason      text,
  actor       text not null,
  created_at  timestamptz not null default now(),
  unique nulls not distinct (kind, subject, node_id)
);

create table authority_epochs (
  epoch           bigint primary key,
  reason          varchar(40) not null,
  bundle_version  bigint not null,
  actor           text not null,
  created_at      timestamptz not null default now()
);

alter table trust_bundles add column epoch bigint not null default 1;
alter table trust_bundles drop constraint trust_bundles_pkey;
alter table trust_bundles add primary key (epoch, version);

-- Published ----------------------------------------------------------------------------------------

-- Content-addressed: nodes with the same content share its bytes.
create table snapshot_contents (
  content_hash  text primary key,
  bytes         bytea not null,
  created_at    timestamptz not null default now()
);

drop table snapshots;
-- The newest of each node and scope. Header and signatures; the content stands in snapshot_contents.
create table snapshots (
  node_id          uuid not null references nodes,
  scope_type       varchar(40) not null,
  authority_epoch  bigint not null,
  config_version   bigint not null,
  content_hash     text not null references snapshot_contents,
  header           bytea not null,
  signatures       bytea not null,
  signer_key_id    varchar(64) not null,
  issued_at        timestamptz not null,
  refresh_after    timestamptz not null,
  expires_at       timestamptz not null,
  -- The way here from the version before, where it is shorter than the content.
  increment_base   bigint,
  increment        bytea,
  primary key (node_id, scope_type)
) with (fillfactor = 70);
create index snapshots_to_refresh on snapshots (refresh_after);
create index snapshots_by_content on snapshots (content_hash);

-- Versions before the newest, a few of each: for people, who want to see what changed.
create table snapshot_history (
  node_id          uuid not null references nodes,
  scope_type       varchar(40) not null,
  authority_epoch  bigint not null,
  config_version   bigint not null,
  content_hash     text not null references snapshot_contents,
  header           bytea not null,
  signatures       bytea not null,
  replaced_at      timestamptz not null default now(),
  primary key (node_id, scope_type, authority_epoch, config_version)
);
create index snapshot_history_by_content on snapshot_history (content_hash);

-- What has to be compiled again, written by the transaction that changed the rows it comes from.
create table snapshot_dirty (
  node_id     uuid not null references nodes on delete cascade,
  scope_type  varchar(40) not null,
  since       timestamptz not null default clock_timestamp(),
  primary key (node_id, scope_type)
);
