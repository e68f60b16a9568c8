-- A node's row in a rollout is written several times while it upgrades. What never changes stands elsewhere, and no
-- index names what changes: then an update stays on its page.

create table rollout_proofs (
  rollout_id  uuid not null references rollouts,
  node_id     uuid not null,
  proof       jsonb not null,
  primary key (rollout_id, node_id)
);
insert into rollout_proofs select rollout_id, node_id, proof from rollout_nodes;
alter table rollout_nodes drop column proof;
drop index rollout_nodes_by_status;
alter table rollout_nodes set (fillfactor = 50);
alter table nodes set (fillfactor = 70);
alter table node_config_state set (fillfactor = 70);
alter table service_assignments set (fillfactor = 50);

-- When the node measured what it says, by its own clock: an old one that arrives late is known by it.
alter table node_heartbeats add column measured_at timestamptz not null default '-infinity';

create index rollout_configs_by_node on rollout_configs (rollout_id, node_id);
create index rollout_configs_by_content on rollout_configs (sha256, rollout_id);

-- A revocation counts from when it is written, not from when its transaction began to wait for its turn.
alter table authority_revocations alter column created_at set default clock_timestamp();
