/** What operators asked for since the last step. A signal that no longer fits is recorded as not applied. */
import { unreachable } from "../errors.ts";
import { refusalOf } from "./allow.ts";
import { applyGiveUp, applyRetry, applySkip } from "./apply-node-signals.ts";
import type { Draft } from "./draft.ts";
import type { SignalRow } from "./rows.ts";

/** What `force` overrides; an approval is not among them. */
const FORCED = ["THRESHOLD_EXCEEDED", "CANARY_FAILED", "RETRYING", "RETRIED"];

export function applySignals(draft: Draft, signals: readonly SignalRow[], now: number): void {
  for (const signal of signals) {
    const { rollout } = draft;
    // The API refuses a rollback of nothing. A group asks every component, and one without such nodes ends at once.
    const facts = { ...rollout, whyCode: rollout.why?.code ?? null, hasOnTarget: true };
    const applied = refusalOf(facts, signal.kind) === null && apply(draft, signal, now);
    const { id, kind, nodeId, actor, reason } = signal;
    if (applied) draft.appliedSignals.push(id);
    draft.events.push({ kind: "rollout.signal", signal: kind, nodeId, actor, reason, applied });
  }
}

function apply(draft: Draft, signal: SignalRow, now: number): boolean {
  const { rollout } = draft;
  const { kind, actor } = signal;
  const because = signal.reason === null ? "" : `: ${signal.reason}`;
  switch (kind) {
    case "start":
      return draft.move("start", null);
    case "pause":
      rollout.pauseRequested = true;
      rollout.why = { code: "PAUSE_REQUESTED", text: `${actor} asked to pause after this batch${because}` };
      return true;
    case "resume":
      return resume(draft);
    case "cancel":
      if (rollout.status !== "running" && draft.atWork().length === 0)
        return draft.move("cancel", { code: "CANCELLED", text: `${actor} cancelled${because}` });
      rollout.cancelRequested = true;
      rollout.why = {
        code: "CANCEL_REQUESTED",
        text: `${actor} cancelled; nodes at work finish first${because}`,
      };
      return true;
    case "force": {
      rollout.forceContinue = true;
      const holds = rollout.status === "paused" && FORCED.includes(rollout.why?.code ?? "");
      return !holds || draft.move("force", null);
    }
    case "approve_canary":
      rollout.canaryApprovedBy = actor;
      rollout.canaryApprovedAt = now;
      return draft.move("approve_canary", null);
    case "rollback":
      return rollBack(draft, `${actor} asked for a rollback${because}`);
    case "retry":
      return applyRetry(draft, signal);
    case "skip":
      return applySkip(draft, signal);
    case "give_up":
      return applyGiveUp(draft, signal, now);
    default:
      return unreachable(kind);
  }
}

function resume(draft: Draft): boolean {
  const { rollout } = draft;
  if (rollout.status === "running") {
    rollout.pauseRequested = false;
    if (rollout.why?.code === "PAUSE_REQUESTED") rollout.why = null;
    return true;
  }
  if (!draft.move("resume", null)) return false;
  rollout.acknowledgedFailures = draft.failures();
  return true;
}

/** One that has ended, or waits with a closed window for a new intent, goes on at once; nodes at work finish first. */
function rollBack(draft: Draft, text: string): boolean {
  const { rollout } = draft;
  if (rollout.status === "rolling_back") {
    rollout.why = null;
    return true;
  }
  if (rollout.status === "running" || rollout.status === "paused") {
    rollout.rollbackRequested = true;
    rollout.why = { code: "ROLLBACK_REQUESTED", text: `${text}; nodes at work finish first` };
    return true;
  }
  return draft.move("rollback", { code: "ROLLING_BACK", text });
}
