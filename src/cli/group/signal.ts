/** A signal to a group, and its state with the signal applied. */
import { stepGroup, type GroupSignalKind } from "../../core/group/states.ts";
import { type GroupSignalRequest, GroupView } from "../../core/protocol/group-api.ts";
import type { Api } from "../api.ts";
import type { Call } from "../call.ts";
import { sendSignal } from "../signals/send.ts";
import { effectText, takeEffect } from "../signals/take-effect.ts";
import { readGroup } from "./find.ts";
import { groupStatusText } from "./text.ts";

interface SignalledGroup {
  readonly group: GroupView;
  /** The end of a sentence about the signal. */
  readonly effect: string;
}

export async function signalGroup(
  call: Call,
  api: Api,
  before: GroupView,
  signal: GroupSignalKind,
  more: Omit<GroupSignalRequest, "reason"> = {},
): Promise<SignalledGroup> {
  const { id } = before;
  const answered = await sendSignal(call, api, `/api/v1/rollout-groups/${id}/${signal}`, GroupView, more);
  const isApplied = (now: GroupView): boolean => shows(signal, before, now);
  const effect = await takeEffect(answered, isApplied, () => readGroup(api, id));
  return { group: effect.now, effect: effectText(groupStatusText(effect.now), effect.isApplied) };
}

/** Pause and cancel of a running group are carried until its component is at a boundary. */
function shows(signal: GroupSignalKind, before: GroupView, now: GroupView): boolean {
  if (now.status !== before.status || stepGroup(before.status, signal) === undefined) return true;
  return (signal === "pause" && now.pause_requested) || (signal === "cancel" && now.cancel_requested);
}
