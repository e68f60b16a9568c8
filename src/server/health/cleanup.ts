/**
 * Frees profiles of nodes that are stuck in maintenance (ROLL-15): their rollout ended without taking them out.
 *
 * 1. A node that an active rollout of the profile works on is left alone: the rollout has deadlines of its own.
 */
import { stateAfterMaintenance } from "../../core/health/evaluate.ts";
import { ACTIVE_STATUSES } from "../../core/rollout/states.ts";
import type { Database } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { changeProfiles } from "./change-states.ts";
import { databaseNow, loadPrograms } from "./facts.ts";

/** How many profiles of nodes were freed; null when another replica does it. */
export async function freeStuckNodes(db: Database, limitMs: number, at?: number): Promise<number | null> {
  return db.begin(async (tx) => {
    const [lock] = await tx<
      { held: boolean }[]
    >`select pg_try_advisory_xact_lock(${LOCKS.maintenance}) as held`;
    if (!lock!.held) return null;
    const now = at ?? (await databaseNow(tx));
    const stuck = await loadPrograms(
      tx,
      0,
      tx`np.state = 'maintenance' and np.state_changed_at <= ${new Date(now - limitMs)} and not exists (
        select 1 from rollouts r join rollout_nodes rn on rn.rollout_id = r.id and rn.node_id = n.id
        where r.chain_profile_id = np.chain_profile_id and r.status = any(${[...ACTIVE_STATUSES]})
          and rn.status = 'in_progress')`, // (1)
    );
    const changes = stuck.map(({ nodeId, profile, facts }) => ({
      nodeId,
      profile,
      from: facts.state,
      to: stateAfterMaintenance(facts, now),
      reason: "MAINTENANCE_OVER",
    }));
    return changeProfiles(tx, changes);
  });
}
