-- What a node runs when its upgrade is over, as far as is known. No index names it: an update stays on its page.
alter table rollout_nodes
  add column stands               varchar(10) check (stands in ('target', 'previous', 'unknown')),
  -- The rollout that the node's assignment belonged to when this one launched it: restored when nothing was changed.
  add column previous_rollout_id  uuid;

update rollout_nodes rn set stands = case
    when rn.status = 'succeeded' then 'target'
    when rn.status = 'rolled_back' then 'previous'
    when sa.kind = 'settled' and sa.target_fp = r.target_binary_checksum then 'target'
    when sa.kind = 'settled' then 'previous'
    else 'unknown' end
  from rollouts r, service_assignments sa
  where r.id = rn.rollout_id and rn.status in ('succeeded', 'rolled_back', 'failed', 'failed_rollback')
    and sa.node_id = rn.node_id and sa.chain_profile_id = r.chain_profile_id and sa.rollout_id = r.id;

-- Nodes whose version is unknown: given up before they answered. Their next heartbeat or a late verdict settles them.
create table unsettled_nodes (
  rollout_id  uuid not null references rollouts,
  node_id     uuid not null references nodes,
  since       timestamptz not null default clock_timestamp(),
  primary key (rollout_id, node_id)
);
insert into unsettled_nodes (rollout_id, node_id) select rollout_id, node_id from rollout_nodes where stands = 'unknown';

-- What a step made of a report: applied, or why not.
alter table upgrade_reports add column outcome varchar(20);

-- A poll could raise a sequence to any number until now: lower such a one to what was issued.
update nodes n set command_sequence = coalesce((select max(sequence) from commands c where c.node_id = n.id), 0)
  where command_sequence > 1::bigint << 50;
