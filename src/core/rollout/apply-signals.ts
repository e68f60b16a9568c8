/** What operators asked for since the last step. A signal that no longer fits is recorded as not applied. */
import type { Draft } from "./draft.ts";
import type { SignalKind } from "./states.ts";
import type { SignalRow } from "./rows.ts";
import { failedCount } from "./pass-gate.ts";
import { unreachable } from "../errors.ts";

export function applySignals(draft: Draft, signals: readonly SignalRow[]): void {
  for (const signal of signals) {
    const applied = apply(draft, signal.kind, signal);
    const { kind, actor, reason } = signal;
    draft.events.push({ kind: "rollout.signal", signal: kind, actor, reason, applied });
  }
}

function apply(draft: Draft, kind: SignalKind, { actor, reason }: SignalRow): boolean {
  const { rollout } = draft;
  const because = reason === null ? "" : `: ${reason}`;
  switch (kind) {
    case "start":
      return draft.move("start", null);
    case "pause":
      if (rollout.status !== "running" || rollout.cancelRequested) return false;
      rollout.pauseRequested = true;
      rollout.why = { code: "PAUSE_REQUESTED", text: `${actor} asked to pause after this batch${because}` };
      return true;
    case "resume":
      if (rollout.status === "running" && rollout.pauseRequested) {
        rollout.pauseRequested = false;
        if (rollout.why?.code === "PAUSE_REQUESTED") rollout.why = null;
        return true;
      }
      if (!draft.move("resume", null)) return false;
      rollout.acknowledgedFailures = failedCount(draft.counts);
      return true;
    case "cancel":
      if (rollout.status === "running") {
        rollout.cancelRequested = true;
        rollout.why = {
          code: "CANCEL_REQUESTED",
          text: `${actor} cancelled; nodes at work finish first${because}`,
        };
        return true;
      }
      return draft.move("cancel", { code: "CANCELLED", text: `${actor} cancelled${because}` });
    default:
      return unreachable(kind);
  }
}
