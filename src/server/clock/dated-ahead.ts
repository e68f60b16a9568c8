/**
 * Rows that were dated by a clock that was ahead (SNAP-17). Left alone they would count as new until that time comes:
 * a snapshot would not be signed again, a silent node would be heard, a rollout would wait, a node would stay degraded.
 */
import { LIMITS } from "../../core/limits.ts";
import type { Database } from "../db/database.ts";
import { markSignedAhead } from "../snapshots/mark.ts";

/** Times that a later step or look counts from. */
const COUNTED_FROM = {
  node_heartbeats: ["received_at"],
  rollout_nodes: ["launched_at", "installed_at", "ended_at", "silent_since"],
  nodes: ["state_changed_at"],
  node_profiles: ["state_changed_at"],
  node_health: ["well_since"],
  profile_health: ["well_since", "ill_since", "base_at"],
} as const;

export async function mendDatedAhead(db: Database): Promise<void> {
  await markSignedAhead(db);
  const ahead = db`clock_timestamp() + ${LIMITS.clockDisagreeMs} * interval '1 millisecond'`;
  await db`update proven_time set at = clock_timestamp() where at > ${ahead}`;
  // A head is due while something was revoked after it: until then every poll would be answered with a new one.
  await db`update authority_revocations set created_at = clock_timestamp() where created_at > ${ahead}`;
  for (const [table, columns] of Object.entries(COUNTED_FROM))
    for (const column of columns)
      await db`update ${db(table)} set ${db(column)} = clock_timestamp() where ${db(column)} > ${ahead}`;
  // Woken early, a step looks and sets the right time: the bound is the longest wait that a rollout may have.
  const active = ["running", "rolling_back"];
  await db`update rollouts set wake_at = clock_timestamp() where status = any(${active}) and wake_at > ${ahead}`;
  await db`update rollout_groups set wake_at = clock_timestamp() where status = any(${active}) and wake_at > ${ahead}`;
}
