-- Several programs on one node (ROLL-28): silence belongs to the node, every other state to a node and a profile.

create table node_profiles (
  node_id           uuid not null references nodes,
  chain_profile_id  varchar(100) not null,
  state             varchar(20) not null default 'active'
    check (state in ('active', 'maintenance', 'degraded', 'failed')),
  state_changed_at  timestamptz not null default now(),
  added_at          timestamptz not null default now(),
  primary key (node_id, chain_profile_id)
) with (fillfactor = 70);
-- Eligible nodes, and the unavailable ones, are found by profile.
create index node_profiles_by_profile on node_profiles (chain_profile_id, node_id);
create trigger node_state_changed before update of state on node_profiles
  for each row when (old.state is distinct from new.state) execute function node_state_changed();

insert into node_profiles (node_id, chain_profile_id, state, state_changed_at, added_at)
  select id, chain_profile_id, case when state = 'down' then 'active' else state end, state_changed_at, created_at from nodes;

-- The state of a node itself is what its heartbeats alone say: `degraded` when they are late, `down` when they are lost.
alter table nodes drop constraint nodes_state_check;
update nodes set state = 'active' where state not in ('active', 'down');
alter table nodes
  add constraint nodes_state_check check (state in ('active', 'degraded', 'down')),
  drop column chain_profile_id;

-- The health evaluator's memory of each program. A program that has always been well has no row.
create table profile_health (
  node_id           uuid not null,
  chain_profile_id  varchar(100) not null,
  well_since        timestamptz,
  ill_since         timestamptz,
  seen_restarts     bigint not null default 0,
  base_restarts     bigint not null default 0,
  base_at           timestamptz,
  primary key (node_id, chain_profile_id),
  foreign key (node_id, chain_profile_id) references node_profiles on delete cascade
);
insert into profile_health
  select h.node_id, p.chain_profile_id, h.well_since, h.ill_since, h.seen_restarts, h.base_restarts, h.base_at
  from node_health h join node_profiles p on p.node_id = h.node_id;
alter table node_health
  drop column ill_since, drop column seen_restarts, drop column base_restarts, drop column base_at;

-- The state shown for a node: the worst of its own and its profiles'.
create view shown_states as
  select n.id as node_id,
    case
      when n.state = 'down' then 'down'
      when p.failed then 'failed'
      when n.state = 'degraded' or p.degraded then 'degraded'
      when p.maintenance then 'maintenance'
      else 'active'
    end as state
  from nodes n
  left join lateral (
    select bool_or(state = 'failed') as failed, bool_or(state = 'degraded') as degraded,
      bool_or(state = 'maintenance') as maintenance
    from node_profiles where node_id = n.id
  ) p on true;

-- The profile whose job an accepted command waits for on its node.
alter table rollout_nodes add column waiting_for varchar(100);
create index rollout_nodes_waiting on rollout_nodes (rollout_id) where waiting_for is not null;

-- A wait is reported before the first action, and again when a job ahead of it has ended: ranks below every action's.
alter table commands alter column reported_rank set default -100;
update commands set reported_rank = -100 where reported_rank = -1;
