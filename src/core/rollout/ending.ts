/**
 * The end of a rollout whose batches have all had their turn.
 *
 * 1. `completed`: at least one node was upgraded, and no more failed than the threshold allows. A force goes past
 *    failures and does not make them a success: scripts and groups go on from `completed` alone.
 * 2. The reason names every node that was not upgraded.
 */
import type { Draft } from "./draft.ts";
import { attemptedCount } from "./holds.ts";
import { failedCount } from "./patches.ts";
import type { StatusCounts, Why } from "./rows.ts";

export function endRollout(draft: Draft): void {
  const { rollout, counts } = draft;
  const [failed, attempted] = [failedCount(counts), attemptedCount(counts)];
  if (counts.succeeded === 0) {
    const text = `none of ${totalOf(counts)} nodes was upgraded: ${leftOut(counts)}`;
    draft.move("fail", { code: "NOTHING_UPGRADED", text });
  } else if (failed / attempted > rollout.failureThreshold) {
    const forced = rollout.forceContinue ? "; it went past them because it was forced" : "";
    const text = `${failed} of ${attempted} attempted nodes failed, the threshold is ${rollout.failureThreshold}${forced}`;
    draft.move("fail", { code: "THRESHOLD_EXCEEDED", text });
  } else draft.move("complete", notAllUpgraded(counts));
}

/** (2) */
function notAllUpgraded(counts: StatusCounts): Why | null {
  const total = totalOf(counts);
  if (counts.succeeded === total) return null;
  const text = `${counts.succeeded} of ${total} nodes were upgraded: ${leftOut(counts)}`;
  return { code: "NOT_ALL_UPGRADED", text };
}

const totalOf = (counts: StatusCounts): number =>
  Object.values(counts).reduce((sum: number, count: number) => sum + count, 0);

const leftOut = (counts: StatusCounts): string =>
  [
    ...(failedCount(counts) === 0 ? [] : [`${failedCount(counts)} failed`]),
    ...(counts.skipped === 0 ? [] : [`${counts.skipped} skipped`]),
  ].join(", ");
