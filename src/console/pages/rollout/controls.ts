/** Which of the four controls an operator may use now: core's state table, less what was asked for already. */
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { can, SIGNALS, type SignalKind } from "../../../core/rollout/states.ts";

export interface Control {
  readonly signal: SignalKind;
  readonly label: string;
  readonly isEnabled: boolean;
}

interface Wording {
  readonly label: string;
  readonly title: string;
  readonly effect: string;
  readonly confirm: string;
}

export const WORDING: Record<SignalKind, Wording> = {
  start: {
    label: "Start",
    title: "Start this rollout",
    effect: "The first batch begins at once.",
    confirm: "Start rollout",
  },
  pause: {
    label: "Pause",
    title: "Pause this rollout",
    effect: "Nodes at work finish their upgrade and their health check; no further batch begins.",
    confirm: "Pause rollout",
  },
  resume: {
    label: "Resume",
    title: "Resume this rollout",
    effect: "The next batch begins. Failures seen so far do not pause it again.",
    confirm: "Resume rollout",
  },
  cancel: {
    label: "Cancel",
    title: "Cancel this rollout?",
    effect:
      "Nodes at work finish; all nodes not begun are skipped. Upgraded nodes stay upgraded. This cannot be undone.",
    confirm: "Cancel rollout",
  },
};

type Asked = Pick<RolloutView, "status" | "pause_requested" | "cancel_requested">;

export const controlsFor = (rollout: Asked): readonly Control[] =>
  SIGNALS.map((signal) => ({
    signal,
    label: WORDING[signal].label,
    isEnabled: can(rollout.status, signal) && !isPointless(rollout, signal),
  }));

/** Legal, but it would change nothing. */
function isPointless({ pause_requested, cancel_requested }: Asked, signal: SignalKind): boolean {
  if (signal === "pause") return pause_requested || cancel_requested;
  return signal === "cancel" && cancel_requested;
}
