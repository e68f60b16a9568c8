/** Which controls an operator may use now: core's own refusals, less what was asked for already. */
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { refusalOf } from "../../../core/rollout/allow.ts";
import { componentTakes } from "../../../core/rollout/members.ts";
import type { SignalKind } from "../../../core/rollout/states.ts";
import type { Question } from "../../ui/reason-dialog.tsx";

/** The buttons at the top, in their places. An approval stands beside its gate, a skip beside its node. */
const BAR = ["start", "pause", "resume", "retry", "give_up", "force", "rollback", "cancel"] as const;
export type BarSignal = (typeof BAR)[number];

export interface Control {
  readonly signal: BarSignal;
  readonly label: string;
  readonly isEnabled: boolean;
}

const LABELS: Record<BarSignal, string> = {
  start: "Start",
  pause: "Pause",
  resume: "Resume",
  retry: "Retry failed",
  give_up: "Give up silent",
  force: "Force",
  rollback: "Roll back",
  cancel: "Cancel",
};

type Asked = Pick<
  RolloutView,
  | "status"
  | "why"
  | "group_id"
  | "pause_requested"
  | "cancel_requested"
  | "rollback_requested"
  | "rollback_allowed"
  | "force_continue"
  | "silent_nodes"
> & { readonly counters: Pick<RolloutView["counters"], "failed" | "succeeded"> };

export const controlsFor = (rollout: Asked): readonly Control[] =>
  BAR.map((signal) => ({
    signal,
    label: LABELS[signal],
    isEnabled: isAllowed(rollout, signal) && !isPointless(rollout, signal),
  }));

export function isAllowed(rollout: Asked, signal: SignalKind): boolean {
  const standing = { status: rollout.status, whyCode: rollout.why?.code ?? null };
  if (rollout.group_id !== null && !componentTakes(standing, signal)) return false;
  const refusal = refusalOf(
    {
      ...standing,
      pauseRequested: rollout.pause_requested,
      cancelRequested: rollout.cancel_requested,
      rollbackRequested: rollout.rollback_requested,
      rollbackAllowed: rollout.rollback_allowed,
      hasOnTarget: mayBeOnTarget(rollout),
    },
    signal,
  );
  return refusal === null;
}

/** Legal, but it would change nothing. */
function isPointless(rollout: Asked, signal: BarSignal): boolean {
  const { pause_requested, cancel_requested, force_continue, counters } = rollout;
  if (signal === "pause") return pause_requested || cancel_requested;
  if (signal === "cancel") return cancel_requested;
  if (signal === "retry") return counters.failed === 0;
  if (signal === "give_up") return rollout.silent_nodes === 0;
  if (signal === "force") return force_continue;
  return signal === "rollback" && !mayBeOnTarget(rollout);
}

/** A failed node may still run the new version: the server checks. */
const mayBeOnTarget = ({ counters }: Asked): boolean => counters.succeeded + counters.failed > 0;

type Wording = Omit<Question, "reason"> & Partial<Pick<Question, "reason">>;

const WORDING: Record<SignalKind, Wording> = {
  start: { title: "Start this rollout", effect: "The first batch begins at once.", confirm: "Start rollout" },
  pause: {
    title: "Pause this rollout",
    effect: "Nodes at work finish their upgrade and their health check; no further batch begins.",
    confirm: "Pause rollout",
  },
  resume: {
    title: "Resume this rollout",
    effect: "The next batch begins. Failures seen so far do not pause it again.",
    confirm: "Resume rollout",
  },
  retry: {
    title: "Retry the failed nodes",
    effect:
      "Every node that failed is upgraded once more, batch by batch, with the same limits and gates. A paused rollout stays paused.",
    confirm: "Retry failed nodes",
  },
  force: {
    title: "Force this rollout on?",
    effect:
      "From now on failures do not pause it, however many there are. An approval that is missing is still missing.",
    confirm: "Force rollout",
    isDanger: true,
  },
  approve_canary: {
    title: "Approve the canary",
    effect: "The migration is breaking: every further node is upgraded without another question.",
    confirm: "Approve canary",
    reason: "required",
  },
  rollback: {
    title: "Roll this rollout back?",
    effect: "Every upgraded node goes back to what it ran before, the last batch first.",
    confirm: "Roll back",
    isDanger: true,
    back: "Keep rollout",
  },
  cancel: {
    title: "Cancel this rollout?",
    effect:
      "Nodes at work finish; all nodes not begun are skipped. Upgraded nodes stay upgraded. This cannot be undone. The signed intent stays valid until the cancel is signed with `fairlead rollout cancel --sign`.",
    confirm: "Cancel rollout",
    isDanger: true,
    back: "Keep rollout",
  },
  give_up: {
    title: "Give the silent nodes up?",
    effect:
      "Every node at work that is silent counts as failed, and the rollout goes on without waiting for it. Should its verdict still come, it settles the node.",
    confirm: "Give up silent nodes",
    isDanger: true,
  },
  skip: {
    title: "Leave this node out",
    effect: "The node keeps what it runs; the rollout goes on without it. This cannot be undone.",
    confirm: "Leave node out",
  },
};

export function questionFor(signal: SignalKind, rollout: Pick<RolloutView, "chain_profile_id">): Question {
  const typed = signal === "rollback" ? { typed: rollout.chain_profile_id } : {};
  return { reason: "optional", ...WORDING[signal], ...typed };
}
