/** Where a rollout stands after a signal: most of them take effect at the batch boundary. */
import type { RolloutView } from "../../core/protocol/operator-api.ts";

export function standing(rollout: RolloutView): string {
  const { status } = rollout;
  if (status !== "running") return status;
  if (rollout.rollback_requested) return "running and goes back when the nodes at work are settled";
  if (rollout.cancel_requested) return "running and ends after this batch";
  return rollout.pause_requested ? "running and pauses after this batch" : status;
}
