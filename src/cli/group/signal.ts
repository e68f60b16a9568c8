/** A signal to a group, and where it stands then. */
import { stepGroup, type GroupSignalKind } from "../../core/group/states.ts";
import { type GroupSignalRequest, GroupView } from "../../core/protocol/group-api.ts";
import type { Api } from "../api.ts";
import type { Call } from "../call.ts";
import { sendSignal } from "../signals/send.ts";
import { takeEffect } from "../signals/take-effect.ts";
import { readGroup } from "./find.ts";

export async function signalGroup(
  call: Call,
  api: Api,
  before: GroupView,
  signal: GroupSignalKind,
  more: Omit<GroupSignalRequest, "reason"> = {},
): Promise<GroupView> {
  const { id } = before;
  const answered = await sendSignal(call, api, `/api/v1/rollout-groups/${id}/${signal}`, GroupView, more);
  return takeEffect(before, answered, stepGroup(before.status, signal), () => readGroup(api, id));
}
