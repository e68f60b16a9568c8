/**
 * The gate between two batches: an ordered list of reasons to hold, each with its own code; then the next batch or
 * the end. A later gate (an expression to ask, a time to wait for) is one more row here.
 */
import type { Draft } from "./draft.ts";
import { failedCount } from "./patches.ts";
import type { StatusCounts, Why } from "./rows.ts";
import { findOverLimit } from "./unavailable.ts";

const attemptedCount = (counts: StatusCounts): number =>
  counts.succeeded + counts.failed + counts.failed_rollback + counts.rolled_back + counts.in_progress;

type Hold = (draft: Draft, now: number) => Why | null;

/** Looked at before the end as well as before a batch. */
const FAILURES: readonly Hold[] = [canaryFailed, thresholdExceeded];
/** Nothing left to open, nothing left to hold. */
const BEFORE_A_BATCH: readonly Hold[] = [approvalMissing, intentExpired, limitReached];

export function passGate(draft: Draft, now: number): void {
  const { rollout } = draft;
  if (draft.isAnyAtWork()) return;
  if (rollout.cancelRequested) {
    rollout.cancelRequested = false;
    draft.move("cancel", {
      code: "CANCELLED",
      text: "cancelled by an operator; nodes not begun were skipped",
    });
    return;
  }
  if (rollout.status !== "running") return;
  if (isHeld(draft, FAILURES, now)) return;
  if (draft.next === null) return finish(draft);
  if (rollout.pauseRequested) {
    draft.move("pause", { code: "PAUSED", text: "paused by an operator: resume or cancel" });
    return;
  }
  if (isHeld(draft, BEFORE_A_BATCH, now)) return;
  draft.openBatch(draft.next.index, "forward", draft.next.nodes);
}

function isHeld(draft: Draft, holds: readonly Hold[], now: number): boolean {
  for (const hold of holds) {
    const why = hold(draft, now);
    if (why !== null) return draft.move("halt", why);
  }
  return false;
}

const freshFailures = ({ counts, rollout }: Draft): number =>
  failedCount(counts) - Math.min(rollout.acknowledgedFailures, failedCount(counts));

function canaryFailed(draft: Draft): Why | null {
  const { rollout, counts } = draft;
  if (rollout.strategy !== "canary" || rollout.currentBatch !== 0 || rollout.forceContinue) return null;
  if (freshFailures(draft) === 0) return null;
  return {
    code: "CANARY_FAILED",
    text: `${failedCount(counts)} canary nodes failed: look at them, then resume, force, cancel or roll back`,
  };
}

function thresholdExceeded(draft: Draft): Why | null {
  const { rollout, counts } = draft;
  const attempted = attemptedCount(counts);
  if (rollout.forceContinue || attempted === 0) return null;
  if (freshFailures(draft) / attempted <= rollout.failureThreshold) return null;
  return {
    code: "THRESHOLD_EXCEEDED",
    text: `${failedCount(counts)} of ${attempted} attempted nodes failed: look at them, then retry, resume, force, cancel or roll back`,
  };
}

/** Nothing beyond the canary begins without it, also when the canary's nodes were all left out. */
function approvalMissing({ rollout, next, counts }: Draft): Why | null {
  const goesBeyond = rollout.strategy === "canary" && next !== null && next.index > 0;
  if (!goesBeyond || rollout.migrationType !== "breaking" || rollout.canaryApprovedAt !== null) return null;
  const canary = counts.succeeded > 0 ? "is well: look at it yourself" : "was left out";
  return {
    code: "CANARY_APPROVAL",
    text: `the canary of a breaking migration ${canary}, then approve it, cancel or roll back`,
  };
}

function intentExpired({ rollout }: Draft, now: number): Why | null {
  if (rollout.intentNotAfter === null || rollout.intentNotAfter > now) return null;
  return { code: "INTENT_EXPIRED", text: "the signed window is over: sign a new intent, then resume" };
}

function limitReached(draft: Draft): Why | null {
  const over = findOverLimit(draft);
  if (over === null) return null;
  const { label, value, away, nodes, count } = over;
  return {
    code: "UNAVAILABLE_LIMIT",
    text: `${away} nodes with ${label}=${value} are away and ${nodes} would join them, ${count} may be: bring them back, then resume`,
  };
}

function finish(draft: Draft): void {
  const { rollout, counts } = draft;
  const [failed, attempted] = [failedCount(counts), attemptedCount(counts)];
  const isOver = attempted > 0 && failed / attempted > rollout.failureThreshold;
  const text = `${failed} of ${attempted} attempted nodes failed`;
  if (!isOver) draft.move("complete", null);
  else if (rollout.forceContinue)
    draft.move("complete", { code: "FORCED", text: `${text}; the threshold was overridden` });
  else draft.move("fail", { code: "THRESHOLD_EXCEEDED", text });
}
