-- A rollout writes a node's assignment twice. That its content is there is settled once for all who share it:
-- src/server/snapshots/contents.ts.
alter table snapshots drop constraint snapshots_content_hash_fkey;

-- As for the history: contents that nobody refers to are looked for once an hour, all at once.
drop index snapshots_by_content;
