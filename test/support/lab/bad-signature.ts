/** Somebody with the database and without the key: puts a next version before a node, under the old signatures. */
import type { Json } from "../../../src/core/json.ts";
import type { CompiledScope } from "../../../src/core/snapshot/roles.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { notifyNodes } from "../../../src/server/rollout/wake.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import type { NodeId } from "../../../src/core/ids.ts";

/** Answers with the version that no node will take. */
export async function publishBadlySigned(db: Database, node: string, scope: CompiledScope): Promise<number> {
  const [row] = await db<{ id: NodeId; header: Buffer }[]>`
    select n.id, s.header from snapshots s join nodes n on n.id = s.node_id
    where n.name = ${node} and s.scope_type = ${scope}`;
  const { id, header: bytes } = row!;
  const header = JSON.parse(bytes.toString()) as Record<string, Json> & { config_version: number };
  const next = header.config_version + 1;
  await db`
    insert into snapshot_history (node_id, scope_type, authority_epoch, config_version, content_hash, header, signatures)
    select node_id, scope_type, authority_epoch, config_version, content_hash, header, signatures from snapshots
    where node_id = ${id} and scope_type = ${scope}`;
  await db`
    update snapshots set config_version = ${next}, header = ${canonicalBytes({ ...header, config_version: next })},
      increment = null, increment_base = null
    where node_id = ${id} and scope_type = ${scope}`;
  await db.begin(async (tx) => notifyNodes(tx, [id]));
  return next;
}
