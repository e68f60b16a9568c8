-- Retries that wait for their batch.
alter table rollout_nodes add column retry_requested boolean not null default false;
create index rollout_nodes_to_retry on rollout_nodes (rollout_id, batch_index) where retry_requested;
