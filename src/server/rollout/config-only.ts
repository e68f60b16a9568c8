/**
 * Whether a rollout changes config files alone (ROLL-3, rule 4): the program on every node is the target's already, and
 * on at least one node at least one file is not what the last upgrade put there.
 */
import type { Digest, NodeId, ProfileId } from "../../core/ids.ts";
import type { ConfigRef } from "../../core/upgrade/job.ts";
import type { Transaction } from "../db/database.ts";

export interface NodeToChange {
  readonly id: NodeId;
  readonly fingerprint: Digest | null;
  readonly configs: readonly ConfigRef[];
}

export async function changesConfigsAlone(
  tx: Transaction,
  profile: ProfileId,
  target: Digest,
  nodes: readonly NodeToChange[],
): Promise<boolean> {
  if (nodes.some(({ fingerprint }) => fingerprint !== target)) return false;
  const rows = await tx<(ConfigRef & { node_id: NodeId })[]>`
    select distinct on (rn.node_id, rc.path) rn.node_id, rc.path, rc.mode, rc.sha256
    from rollout_nodes rn
    join rollouts r on r.id = rn.rollout_id and r.chain_profile_id = ${profile}
    cross join lateral (
      select path, mode, sha256 from rollout_configs where rollout_id = r.id and node_id is null
      union all select path, mode, sha256 from rollout_configs where rollout_id = r.id and node_id = rn.node_id
    ) rc
    where rn.node_id = any(${nodes.map(({ id }) => id)}) and rn.status = 'succeeded'
    order by rn.node_id, rc.path, rn.ended_at desc nulls last`;
  const key = (node: NodeId, path: string): string => `${node} ${path}`;
  const held = new Map(rows.map((row) => [key(row.node_id, row.path), `${row.mode} ${row.sha256}`]));
  return nodes.some(({ id, configs }) =>
    configs.some(({ path, mode, sha256 }) => held.get(key(id, path)) !== `${mode} ${sha256}`),
  );
}
