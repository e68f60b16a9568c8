/** Which config files each node of a rollout gets. The rows without a node are everyone's. */
import type { Digest, NodeId, RolloutId } from "../../core/ids.ts";
import type { ConfigRef } from "../../core/upgrade/job.ts";
import type { Transaction } from "../db/database.ts";

/** Sorted by path, as the intent's leaf has them: the order of a database's collation is not it. */
export async function configsOf(
  tx: Transaction,
  rolloutId: RolloutId,
  nodeIds: readonly NodeId[],
): Promise<Map<NodeId, ConfigRef[]>> {
  const rows = await tx<(ConfigRef & { node_id: NodeId | null })[]>`
    select node_id, path, mode, sha256 from rollout_configs
    where rollout_id = ${rolloutId} and (node_id is null or node_id = any(${nodeIds}))`;
  const shared: ConfigRef[] = [];
  const own = new Map<NodeId, ConfigRef[]>(nodeIds.map((id) => [id, []]));
  for (const { node_id, ...ref } of rows) (node_id === null ? shared : own.get(node_id)!).push(ref);
  for (const refs of own.values()) {
    refs.push(...shared);
    refs.sort((a, b) => (a.path < b.path ? -1 : 1));
  }
  return own;
}

export interface StoredConfigs {
  readonly shared: readonly ConfigRef[];
  readonly own: ReadonlyMap<NodeId, readonly ConfigRef[]>;
  readonly contents: ReadonlyMap<Digest, string>;
}

const BLOBS_AT_ONCE = 100;

export async function insertConfigs(
  tx: Transaction,
  id: RolloutId,
  { shared, own, contents }: StoredConfigs,
): Promise<void> {
  const blobs = [...contents].map(([digest, content]) => ({ digest, bytes: Buffer.from(content) }));
  for (let at = 0; at < blobs.length; at += BLOBS_AT_ONCE)
    await tx`insert into blobs ${tx(blobs.slice(at, at + BLOBS_AT_ONCE))} on conflict do nothing`;
  const rows = [
    ...shared.map((ref) => ({ ...ref, node_id: null })),
    ...[...own].flatMap(([node_id, refs]) => refs.map((ref) => ({ ...ref, node_id }))),
  ];
  if (rows.length === 0) return;
  await tx`
    insert into rollout_configs (rollout_id, node_id, path, mode, sha256)
    select ${id}, c.node_id, c.path, c.mode, c.sha256
    from jsonb_to_recordset(${tx.json(rows)}) as c(node_id uuid, path text, mode text, sha256 text)`;
}
