/** Reasons to hold a rollout between two batches: an ordered list, each with its own code. */
import type { BatchPart } from "./decision.ts";
import type { Draft } from "./draft.ts";
import type { NextBatch, StatusCounts, Why } from "./rows.ts";
import { findOthersAtWork, findOverLimit } from "./unavailable.ts";

export const attemptedCount = (counts: StatusCounts): number =>
  counts.succeeded + counts.failed + counts.failed_rollback + counts.rolled_back + counts.in_progress;

/** `fresh`: failures that no operator has seen and gone on from. */
type Counted = "fresh" | "all";

/** Looked at before the end as well as before a batch. */
export const failuresHold = (draft: Draft, counted: Counted): Why | null =>
  draft.rollout.forceContinue ? null : (canaryFailed(draft, counted) ?? thresholdExceeded(draft, counted));

function failuresOf(draft: Draft, counted: Counted): number {
  const failed = draft.failures();
  return counted === "all" ? failed : failed - Math.min(draft.rollout.acknowledgedFailures, failed);
}

function canaryFailed(draft: Draft, counted: Counted): Why | null {
  const { rollout, isBeyondCanary } = draft;
  if (rollout.strategy !== "canary" || rollout.currentBatch !== 0 || isBeyondCanary) return null;
  if (failuresOf(draft, counted) === 0) return null;
  return {
    code: "CANARY_FAILED",
    text: `${draft.failures()} canary nodes failed: look at them, then retry, resume, force, cancel or roll back`,
  };
}

function thresholdExceeded(draft: Draft, counted: Counted): Why | null {
  const attempted = attemptedCount(draft.counts);
  if (attempted === 0) return null;
  if (failuresOf(draft, counted) / attempted <= draft.rollout.failureThreshold) return null;
  return {
    code: "THRESHOLD_EXCEEDED",
    text: `${draft.failures()} of ${attempted} attempted nodes failed: look at them, then retry, resume, force, cancel or roll back`,
  };
}

/** Before a batch, or a part of it, is launched; without a batch, before the end. */
export function holdBefore(draft: Draft, batch: NextBatch | null, part: BatchPart, now: number): Why | null {
  const approval = approvalMissing(draft, batch);
  if (batch === null || approval !== null) return approval;
  return intentUntrusted(draft) ?? intentExpired(draft, now) ?? limitReached(draft, batch, part);
}

/**
 * Nothing beyond the canary begins without it, also when the canary's nodes were all left out. A canary that is the whole
 * fleet does not end without it either, unless it upgraded nothing.
 */
function approvalMissing({ rollout, counts }: Draft, batch: NextBatch | null): Why | null {
  if (rollout.strategy !== "canary" || batch?.index === 0) return null;
  if (rollout.migrationType !== "breaking" || rollout.canaryApprovedAt !== null) return null;
  if (batch === null && counts.succeeded === 0) return null;
  const canary = counts.succeeded > 0 ? "is well: look at it yourself" : "was left out";
  return {
    code: "CANARY_APPROVAL",
    text: `the canary of a breaking migration ${canary}, then approve it, cancel or roll back`,
  };
}

/** A node that is launched all the same refuses its command, one after the other. */
export function intentUntrusted({ rollout }: Pick<Draft, "rollout">): Why | null {
  if (rollout.intentUntrusted === null) return null;
  const back = rollout.status === "rolling_back" ? "ask for the rollback again" : "resume, or cancel";
  return {
    code: "INTENT_UNTRUSTED",
    text: `nodes no longer take the signed intent: ${rollout.intentUntrusted}. Sign a new one with another release key, then ${back}.`,
  };
}

function intentExpired({ rollout }: Draft, now: number): Why | null {
  if (rollout.intentNotAfter === null || rollout.intentNotAfter > now) return null;
  return { code: "INTENT_EXPIRED", text: "the signed window is over: sign a new intent, then resume" };
}

function limitReached(draft: Draft, batch: NextBatch, part: BatchPart): Why | null {
  const over = findOverLimit(draft, batch, part);
  if (over === null) return null;
  const { label, value, away, nodes, count } = over;
  return {
    code: "UNAVAILABLE_LIMIT",
    text: `At most ${count} nodes with ${label}=${value} may be away. ${away} are away, and the batch would take ${nodes} more. Bring them back, then resume.`,
  };
}

/** Nothing pauses: the nodes come back when the other program's upgrade is over. Asked after every hold. */
export function waitForOthers(draft: Draft, batch: NextBatch, part: BatchPart): Why | null {
  const over = findOthersAtWork(draft, batch, part);
  if (over === null) return null;
  const { label, value, away, nodes, count } = over;
  return {
    code: "OTHERS_AT_WORK",
    text: `At most ${count} nodes with ${label}=${value} may be away. ${away} are away, some of them for the upgrade of another program, and the batch would take ${nodes} more. The rollout goes on by itself when they are back.`,
  };
}
