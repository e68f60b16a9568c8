/** A node whose upgrade is over: its assignment becomes `{target, rollback}`, its version is recorded (ROLL-21), its state freed. */
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type { NodePatch } from "../../core/rollout/decision.ts";
import { isGivenUp } from "../../core/rollout/late.ts";
import type { Transaction } from "../db/database.ts";
import { pipelined } from "../db/pipelined.ts";
import type { Authority } from "../snapshots/authority.ts";
import { publishAssignments } from "../snapshots/publish-assignments.ts";
import type { PublishedSnapshot } from "../snapshots/publish.ts";

export async function settleNodes(
  tx: Transaction,
  authority: Authority,
  rolloutId: RolloutId,
  nodes: readonly NodePatch[],
  now: number,
): Promise<PublishedSnapshot[]> {
  if (nodes.length === 0) return [];
  const ids = (pick: (node: NodePatch) => boolean): NodeId[] => nodes.filter(pick).map((node) => node.nodeId);
  const upgraded = ids((node) => node.stands === "target");
  const restored = ids((node) => node.stands === "previous");
  const answered = ids((node) => node.stands === "previous" && !isGivenUp(node));
  const broken = ids((node) => node.stands === "unknown" || node.status === "failed_rollback");
  const known = [...upgraded, ...restored];
  await pipelined(
    () => settleUpgraded(tx, rolloutId, upgraded),
    () => settleRestored(tx, rolloutId, restored, answered),
  );
  const [, , published] = await pipelined(
    () => leaveMaintenance(tx, rolloutId, broken, "degraded"),
    () => leaveMaintenance(tx, rolloutId, known, "active"),
    () => publishAssignments(tx, authority, known, now),
  );
  return published;
}

export const leaveMaintenance = async (
  tx: Transaction,
  rolloutId: RolloutId,
  nodeIds: readonly NodeId[],
  state: "active" | "degraded",
) => tx`
  update node_profiles np set state = ${state} from rollouts r
  where r.id = ${rolloutId} and np.chain_profile_id = r.chain_profile_id and np.node_id = any(${nodeIds})
    and np.state = 'maintenance'`;

async function settleUpgraded(
  tx: Transaction,
  rolloutId: RolloutId,
  nodeIds: readonly NodeId[],
): Promise<void> {
  if (nodeIds.length === 0) return;
  await tx`
    insert into node_config_state (node_id, chain_profile_id, binary_version, fingerprint, updated_at)
    select rn.node_id, r.chain_profile_id, r.target_version, r.target_binary_checksum, now()
    from unnest(${nodeIds}::uuid[]) as q(node_id)
    join rollout_nodes rn on rn.rollout_id = ${rolloutId} and rn.node_id = q.node_id
    join rollouts r on r.id = rn.rollout_id
    on conflict (node_id, chain_profile_id) do update set binary_version = excluded.binary_version,
      fingerprint = excluded.fingerprint, updated_at = now()`;
  // A rollback that was undone ends where it began: on the target, with the same previous version as before. A node that
  // was given up may have been settled on its previous version by a heartbeat.
  await tx`
    update service_assignments sa set kind = 'settled', target_fp = r.target_binary_checksum,
      rollback_fp = rn.previous_checksum, current_fp = null
    from unnest(${nodeIds}::uuid[]) as q(node_id)
    join rollout_nodes rn on rn.rollout_id = ${rolloutId} and rn.node_id = q.node_id
    join rollouts r on r.id = rn.rollout_id
    where sa.node_id = q.node_id and sa.chain_profile_id = r.chain_profile_id and sa.rollout_id = ${rolloutId}`;
}

/**
 * Back on what it came from, and recorded as such. A node that never had anything has no assignment to settle on. The
 * assignment of a node that was given up remains this rollout's until the verdict: the upgrade may still go on.
 */
async function settleRestored(
  tx: Transaction,
  rolloutId: RolloutId,
  nodeIds: readonly NodeId[],
  answered: readonly NodeId[],
): Promise<void> {
  if (nodeIds.length === 0) return;
  await tx`
    update node_config_state state set binary_version = rn.previous_version, fingerprint = rn.previous_checksum,
      updated_at = now()
    from unnest(${nodeIds}::uuid[]) as q(node_id)
    join rollout_nodes rn on rn.rollout_id = ${rolloutId} and rn.node_id = q.node_id
    join rollouts r on r.id = rn.rollout_id
    where rn.previous_checksum is not null
      and state.node_id = q.node_id and state.chain_profile_id = r.chain_profile_id
      and state.fingerprint is distinct from rn.previous_checksum`;
  await tx`
    delete from service_assignments sa using unnest(${nodeIds}::uuid[]) as q(node_id)
    join rollout_nodes rn on rn.rollout_id = ${rolloutId} and rn.node_id = q.node_id
    where sa.node_id = q.node_id and sa.rollout_id = ${rolloutId} and rn.previous_checksum is null`;
  await restoreUnchanged(tx, rolloutId, answered);
  await tx`
    update service_assignments sa set kind = 'settled', target_fp = rn.previous_checksum, rollback_fp = null, current_fp = null
    from unnest(${nodeIds}::uuid[]) as q(node_id)
    join rollout_nodes rn on rn.rollout_id = ${rolloutId} and rn.node_id = q.node_id
    where sa.node_id = q.node_id and sa.rollout_id = ${rolloutId}`;
}

/**
 * An attempt that changed nothing takes nothing away: the assignment is again the one of the rollout before, with its
 * way back. After a reverse the node itself has none any more.
 */
async function restoreUnchanged(
  tx: Transaction,
  rolloutId: RolloutId,
  nodeIds: readonly NodeId[],
): Promise<void> {
  await tx`
    update service_assignments sa set kind = 'settled', target_fp = rn.previous_checksum, current_fp = null,
      rollback_fp = case when was.stands = 'target' then was.previous_checksum end, rollout_id = r.id,
      intent_digest = r.intent_digest
    from unnest(${nodeIds}::uuid[]) as q(node_id)
    join rollout_nodes rn on rn.rollout_id = ${rolloutId} and rn.node_id = q.node_id and rn.direction = 'forward'
    join rollouts r on r.id = rn.previous_rollout_id
    join rollout_nodes was on was.rollout_id = r.id and was.node_id = rn.node_id
    where sa.node_id = q.node_id and sa.chain_profile_id = r.chain_profile_id and sa.rollout_id = ${rolloutId}`;
}
