/**
 * Nodes that were given up before they answered: until their verdict comes, heartbeats tell what they run. The rows are
 * few, and kept apart, so that the sweep reads no others.
 */
import type { NodeId, ProfileId, RolloutId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { isOpen } from "../../core/rollout/late.ts";
import type { NodePatch } from "../../core/rollout/decision.ts";
import type { Queryable, Transaction } from "../db/database.ts";

type Ended = Pick<NodePatch, "nodeId" | "status" | "stands" | "errorCode" | "installedAt">;

/** After the rows of the nodes are written. */
export async function noteUnsettled(tx: Transaction, id: RolloutId, nodes: readonly Ended[]): Promise<void> {
  const unknown = nodes.filter(isOpen).map(({ nodeId }) => nodeId);
  const known = nodes.filter((node) => !isOpen(node)).map(({ nodeId }) => nodeId);
  if (known.length > 0)
    await tx`delete from unsettled_nodes where rollout_id = ${id} and node_id = any(${known})`;
  if (unknown.length > 0)
    await tx`
      insert into unsettled_nodes (rollout_id, node_id) select ${id}, unnest(${unknown}::uuid[])
      on conflict (rollout_id, node_id) do update set since = clock_timestamp()`;
}

/** A later launch begins from what is recorded: what an earlier rollout did not hear has no meaning any more. */
export const forgetUnsettled = (tx: Transaction, profile: ProfileId, nodeIds: readonly NodeId[]) => tx`
  delete from unsettled_nodes u using rollouts r
  where r.id = u.rollout_id and r.chain_profile_id = ${profile} and u.node_id = any(${[...nodeIds]})`;

/** As `standsByHeartbeat` says it: of what is unsettled, what a heartbeat since then tells the version of. */
const measured = (db: Queryable) => db`
  unsettled_nodes u
  join rollouts r on r.id = u.rollout_id
  join rollout_nodes rn on rn.rollout_id = u.rollout_id and rn.node_id = u.node_id
    and rn.status in ('failed', 'failed_rollback') and rn.previous_checksum is distinct from r.target_binary_checksum
  join service_assignments sa on sa.node_id = u.node_id and sa.chain_profile_id = r.chain_profile_id
    and sa.rollout_id = u.rollout_id
  join node_heartbeats hb on hb.node_id = u.node_id and hb.received_at > rn.ended_at
  cross join lateral jsonb_array_elements(hb.programs) as program
  where program->>'chain_profile_id' = r.chain_profile_id
    and program->>'running_fingerprint' = program->>'installed_fingerprint'
    and program->>'installed_fingerprint' in (r.target_binary_checksum, rn.previous_checksum)
    and rn.stands is distinct from
      case when program->>'installed_fingerprint' = r.target_binary_checksum then 'target' else 'previous' end`;

export async function findMeasured(tx: Transaction, { id }: { readonly id: RolloutId }): Promise<NodeId[]> {
  const rows = await tx<{ node_id: NodeId }[]>`
    select u.node_id from ${measured(tx)} and u.rollout_id = ${id} limit ${LIMITS.settlesPerStep}`;
  return rows.map(({ node_id }) => node_id);
}

/** Rollouts with such nodes: heartbeats nudge nobody. */
export const measuredRollouts = (db: Queryable) => db`select u.rollout_id from ${measured(db)}`;
