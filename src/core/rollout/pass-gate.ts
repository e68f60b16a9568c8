/** The gate between two batches: threshold, requests of operators, the intent's window; then the next batch or the end. */
import type { Draft } from "./draft.ts";
import type { StatusCounts } from "./rows.ts";
import { isSettled } from "./states.ts";

export const failedCount = (counts: StatusCounts): number => counts.failed + counts.failed_rollback;

const attemptedCount = (counts: StatusCounts): number =>
  counts.succeeded + counts.failed + counts.failed_rollback + counts.rolled_back + counts.in_progress;

export function passGate(draft: Draft, now: number): void {
  const { rollout, counts } = draft;
  if (rollout.status !== "running") return;
  if ([...draft.nodes.values()].some((node) => !isSettled(node.status))) return;

  const failed = failedCount(counts);
  const fresh = failed - rollout.acknowledgedFailures;
  const attempted = attemptedCount(counts);
  if (rollout.cancelRequested) {
    draft.move("cancel", {
      code: "CANCELLED",
      text: "cancelled by an operator; nodes not begun were skipped",
    });
    return;
  }
  if (attempted > 0 && fresh / attempted > rollout.failureThreshold) {
    draft.move("halt", {
      code: "THRESHOLD_EXCEEDED",
      text: `${failed} of ${attempted} attempted nodes failed: look at them, then resume or cancel`,
    });
    return;
  }
  const last = rollout.currentBatch + 1 >= rollout.batchCount;
  if (last) return finish(draft, failed, attempted);
  if (rollout.pauseRequested) {
    draft.move("pause", { code: "PAUSED", text: "paused by an operator: resume or cancel" });
    return;
  }
  if (rollout.intentNotAfter !== null && rollout.intentNotAfter <= now) {
    draft.move("halt", {
      code: "INTENT_EXPIRED",
      text: "the signed window is over: sign a new intent, then resume",
    });
    return;
  }
  draft.openBatch(rollout.currentBatch + 1);
}

function finish(draft: Draft, failed: number, attempted: number): void {
  if (attempted > 0 && failed / attempted > draft.rollout.failureThreshold) {
    draft.move("fail", {
      code: "THRESHOLD_EXCEEDED",
      text: `${failed} of ${attempted} attempted nodes failed`,
    });
  } else draft.move("complete", null);
}
