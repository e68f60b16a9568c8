-- The right of many machines to enroll, each by itself, with one secret.
create table enrollment_keys (
  id                 uuid primary key,
  secret_hash        text not null unique,
  name               varchar(100) not null,
  -- Of the nodes that enroll with it.
  name_template      varchar(253) not null,
  node_type          varchar(100) not null,
  chain_profile_ids  text[] not null,
  roles              text[] not null,
  labels             jsonb not null,
  uses_max           int not null check (uses_max between 1 and 10000),
  uses               int not null default 0 check (uses between 0 and uses_max),
  needs_approval     boolean not null,
  expires_at         timestamptz not null,
  created_by         text not null,
  created_at         timestamptz not null default now(),
  revoked_at         timestamptz
);
-- Of two live keys no two share a name.
create unique index enrollment_keys_live_name on enrollment_keys (name) where revoked_at is null;

-- One machine that used an enrollment key. The same machine's key may ask again after a lost answer, and counts once.
create table enrollment_key_uses (
  enrollment_key_id  uuid not null references enrollment_keys,
  key_hash           text not null,
  node_id            uuid not null unique references nodes,
  host               text not null,
  address            text not null,
  used_at            timestamptz not null default now(),
  -- Null: an operator has not said yes.
  approved_at        timestamptz,
  primary key (enrollment_key_id, key_hash)
);
