/** Signals to a group: one shape, six words. */
import { GroupView } from "../../core/protocol/group-api.ts";
import { stepGroup, type GroupSignalKind } from "../../core/group/states.ts";
import type { Call, Result } from "../call.ts";
import { readGroup, resolveGroup } from "../group/find.ts";
import { groupStatusText } from "../group/text.ts";
import { withSession } from "../session.ts";
import { sendSignal } from "../signals/send.ts";
import { takeEffect } from "../signals/take-effect.ts";

export const groupSignalCommand = (signal: GroupSignalKind) => ({
  run: (call: Call): Promise<Result> =>
    withSession(call, async ({ api }) => {
      const before = await resolveGroup(api, call.args[0]!);
      const { id } = before;
      const answered = await sendSignal(call, api, `/api/v1/rollout-groups/${id}/${signal}`, GroupView);
      const next = stepGroup(before.status, signal);
      const group = await takeEffect(before, answered, next, () => readGroup(api, id));
      return { data: group, text: `${signal} of group ${id} is noted; it is ${groupStatusText(group)}` };
    }),
});
