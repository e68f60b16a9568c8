/** Restarts of programs, counted from the begin of a wait: what happened before it is no part of it (ROLL-15). */
import type { RolloutId } from "../../core/ids.ts";
import type { Transaction } from "../db/database.ts";

/** Of the nodes that the condition on `rn` names. Nearly all programs have none: nothing is written for those. */
export async function countRestartsFromNow(
  tx: Transaction,
  id: RolloutId,
  which: ReturnType<Transaction>,
): Promise<void> {
  await tx`
    update rollout_nodes rn set restarts_before = coalesce((program.report->>'restarts')::bigint, 0)
    from rollouts r, node_heartbeats hb
    cross join lateral jsonb_array_elements(hb.programs) as program(report)
    where rn.rollout_id = ${id} and r.id = rn.rollout_id and hb.node_id = rn.node_id and ${which}
      and program.report->>'chain_profile_id' = r.chain_profile_id
      and rn.restarts_before is distinct from coalesce((program.report->>'restarts')::bigint, 0)`;
}

/** A count that fell belongs to a program that was started anew. */
export const restartsSince = (restarts: number, before: number): number =>
  restarts < before ? restarts : restarts - before;
