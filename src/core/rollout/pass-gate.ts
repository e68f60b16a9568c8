/** The gate between two batches: what may hold the rollout (holds.ts), then retries, the next batch, or the end. */
import type { Draft } from "./draft.ts";
import { endRollout } from "./ending.ts";
import { LIMITS } from "../limits.ts";
import { failuresHold, holdBefore, waitForOthers } from "./holds.ts";
import { goOnRetrying, isOnlyNoted } from "./retry-gate.ts";
import type { Why } from "./rows.ts";

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
  if (rollout.status === "paused") return goOnRetrying(draft, now);
  if (rollout.status !== "running" || isOnlyNoted(draft)) return;
  if (isHeld(draft, failuresHold(draft, "fresh"))) return;
  const [batch, part] =
    draft.retries === null ? [draft.next, "pending" as const] : [draft.retries, "retried" as const];
  if (batch === null) {
    if (!isHeld(draft, holdBefore(draft, null, part, now))) endRollout(draft);
    return;
  }
  if (rollout.pauseRequested) {
    draft.move("pause", { code: "PAUSED", text: "paused by an operator: resume or cancel" });
    return;
  }
  if (isHeld(draft, holdBefore(draft, batch, part, now))) return;
  rollout.why = waitForOthers(draft, batch, part);
  if (rollout.why === null) draft.openBatch(batch, part);
  else draft.lookAgainAt(now + LIMITS.othersRecheckMs);
}

const isHeld = (draft: Draft, why: Why | null): boolean => why !== null && draft.move("halt", why);
