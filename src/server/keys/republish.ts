/** Marks what the active key has not signed in this epoch: nothing, where the last change of keys was followed through. */
import type { Database } from "../db/database.ts";
import { SNAPSHOTS_CHANNEL } from "../snapshots/mark.ts";

export async function republishStale(db: Database): Promise<void> {
  const marked = await db`
    insert into snapshot_dirty (node_id, scope_type)
    select s.node_id, s.scope_type from snapshots s
    join signing_keys k on k.authority = 'online' and k.state = 'active'
    where (s.signer_key_id <> k.key_id or s.authority_epoch <> (select epoch from clusters))
      and not exists (select 1 from snapshot_dirty d where d.node_id = s.node_id and d.scope_type = s.scope_type)
    returning 1`;
  if (marked.length > 0) await db`select pg_notify(${SNAPSHOTS_CHANNEL}, '')`;
}
