/** Which controls of a group may be used now: core's state table, less what was asked for already. */
import type { GroupView } from "../../../core/protocol/group-api.ts";
import { stepGroup, type GroupSignalKind } from "../../../core/group/states.ts";
import type { Question } from "../../ui/reason-dialog.tsx";

export interface GroupControl {
  readonly signal: GroupSignalKind;
  readonly label: string;
  readonly isEnabled: boolean;
}

const LABELS: Record<GroupSignalKind, string> = {
  start: "Start",
  pause: "Pause",
  resume: "Resume",
  cancel: "Cancel",
  rollback: "Roll back",
  skip: "Skip component",
};

const PLACES = ["start", "pause", "resume", "skip", "rollback", "cancel"] as const;

type Asked = Pick<GroupView, "status" | "why" | "pause_requested" | "cancel_requested">;

export const groupControlsFor = (group: Asked): readonly GroupControl[] =>
  PLACES.map((signal) => ({
    signal,
    label: LABELS[signal],
    isEnabled: stepGroup(group.status, signal) !== undefined && !isPointless(group, signal),
  }));

function isPointless({ why, pause_requested, cancel_requested }: Asked, signal: GroupSignalKind): boolean {
  if (signal === "pause") return pause_requested || cancel_requested;
  if (signal === "skip") return why?.code !== "COMPONENT_FAILED";
  return signal === "cancel" && cancel_requested;
}

const WORDING: Record<GroupSignalKind, Omit<Question, "reason">> = {
  start: {
    title: "Start this group",
    effect: "The first component begins at once; each further one when the one before it is healthy.",
    confirm: "Start group",
  },
  pause: {
    title: "Pause this group",
    effect: "The component under way pauses after its batch; no further component begins.",
    confirm: "Pause group",
  },
  resume: {
    title: "Resume this group",
    effect: "The component that paused goes on.",
    confirm: "Resume group",
  },
  skip: {
    title: "Skip the failed component",
    effect: "It stays as it is, partly upgraded, and the next component begins.",
    confirm: "Skip component",
    isDanger: true,
  },
  rollback: {
    title: "Roll this group back?",
    effect: "Every component goes back to what it ran before, the last one first.",
    confirm: "Roll back",
    isDanger: true,
    back: "Keep group",
  },
  cancel: {
    title: "Cancel this group?",
    effect: "Nodes at work finish; later components never begin. What is upgraded stays upgraded.",
    confirm: "Cancel group",
    isDanger: true,
    back: "Keep group",
  },
};

export function groupQuestion(signal: GroupSignalKind, group: Pick<GroupView, "chain_profile_id">): Question {
  const typed = signal === "rollback" ? { typed: group.chain_profile_id } : {};
  return { reason: "optional", ...WORDING[signal], ...typed };
}
