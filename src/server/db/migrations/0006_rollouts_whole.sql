-- Strategies, signals about one node, groups of rollouts, and one claim per profile.

alter table rollouts
  add column canary_size         int not null default 0,
  add column force_continue      boolean not null default false,
  add column skip_validation     boolean not null default false,
  -- {"label": "zone", "count": 1}: how many nodes of one label value may be away at once.
  add column max_unavailable     jsonb,
  add column canary_approved_by  text,
  add column canary_approved_at  timestamptz,
  add column rollback_requested  boolean not null default false,
  add column node_labels         jsonb not null default '{}',
  -- Raised with every step that a group must know of: by the sum of its components' a group knows what it has not looked at.
  add column revision            bigint not null default 0;

-- Config files differ from node to node once they are rendered: the rows without a node are everyone's.
alter table rollout_configs add column node_id uuid references nodes;
alter table rollout_configs drop constraint rollout_configs_pkey;
create unique index rollout_configs_by_path on rollout_configs (rollout_id, path, node_id) nulls not distinct;

alter table rollout_signals
  add column node_id uuid references nodes,
  add column applied boolean;

alter table rollout_groups
  add column current_component  int not null default -1,
  add column failed_component   int,
  add column health_wait_ms     bigint not null default 60000,
  add column gate_until         timestamptz,
  add column pause_requested    boolean not null default false,
  add column cancel_requested   boolean not null default false,
  add column why                jsonb,
  add column generation         bigint not null default 0,
  add column wake_at            timestamptz,
  add column seen_revision      bigint not null default 0,
  add column created_by         text not null default '',
  add column started_at         timestamptz,
  add column ended_at           timestamptz;
create index rollout_groups_by_age on rollout_groups (created_at desc, id);
create index rollout_groups_to_wake on rollout_groups (wake_at) where wake_at is not null;
create unique index rollouts_component on rollouts (group_id, component_index) where group_id is not null;

create table group_signals (
  id               bigserial primary key,
  group_id         uuid not null references rollout_groups,
  kind             varchar(20) not null,
  actor            text not null,
  reason           text,
  idempotency_key  text not null unique,
  created_at       timestamptz not null default now(),
  consumed_at      timestamptz,
  applied          boolean
);
create index group_signals_waiting on group_signals (group_id) where consumed_at is null;

alter table events add column group_id uuid;
create index events_by_group on events (group_id, id) where group_id is not null;

-- One active standalone rollout or group per profile. A component holds its profile for its group.
drop index one_active_rollout_per_profile;
create table profile_claims (
  chain_profile_id  varchar(100) primary key,
  owner             uuid not null
);
insert into profile_claims
  select chain_profile_id, id from rollouts
  where group_id is null and status in ('pending', 'running', 'paused', 'rolling_back');

create function claim_profile() returns trigger language plpgsql as $$
declare
  mine     uuid := new.id;
  active   boolean := new.status in ('pending', 'running', 'paused', 'rolling_back');
  holder   uuid;
begin
  if tg_table_name = 'rollouts' then
    if new.group_id is not null then
      -- A component lets go with its group, not by itself.
      mine := new.group_id;
      if not active then return new; end if;
    end if;
  end if;
  if not active then
    delete from profile_claims where owner = mine;
    return new;
  end if;
  insert into profile_claims values (new.chain_profile_id, mine) on conflict do nothing;
  select owner into holder from profile_claims where chain_profile_id = new.chain_profile_id;
  if holder is distinct from mine then
    raise exception using errcode = 'unique_violation', constraint = 'one_active_per_profile',
      message = 'profile ' || new.chain_profile_id || ' is claimed by ' || holder;
  end if;
  return new;
end $$;
create trigger claim_profile after insert or update of status on rollouts
  for each row execute function claim_profile();
create trigger claim_profile after insert or update of status on rollout_groups
  for each row execute function claim_profile();
