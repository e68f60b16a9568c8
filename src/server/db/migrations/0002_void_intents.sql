-- A cancelled rollout may carry an empty intent that outdates its first one on every node it named.
alter table rollouts add column void_intent_frame bytea;
alter table rollouts add column void_intent_serial bigint;
create index rollouts_voided on rollouts (id) where void_intent_frame is not null;
create index rollout_nodes_by_node on rollout_nodes (node_id);
