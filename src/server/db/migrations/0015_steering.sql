-- Retries that wait for their batch.
alter table rollout_nodes add column retry_requested boolean not null default false;
-- Restarts of the program when its health wait began: a crash loop is counted within the wait.
alter table rollout_nodes add column restarts_before bigint not null default 0;
create index rollout_nodes_to_retry on rollout_nodes (rollout_id, batch_index) where retry_requested;

-- Silence of nodes at work (ROLL-30).
alter table rollouts add column node_silence_max_ms bigint not null default 300000;
alter table rollout_nodes add column silent_since timestamptz;
