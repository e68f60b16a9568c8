/** Signals to a group that need nothing but a reason: one shape, several words. */
import type { GroupSignalKind } from "../../core/group/states.ts";
import type { Call, Result } from "../call.ts";
import { resolveGroup } from "../group/find.ts";
import { signalGroup } from "../group/signal.ts";
import { withSession } from "../session.ts";

export const groupSignalCommand = (signal: GroupSignalKind) => ({
  run: (call: Call): Promise<Result> =>
    withSession(call, async ({ api }) => {
      const before = await resolveGroup(api, call.args[0]!);
      const { group, effect } = await signalGroup(call, api, before, signal);
      return { data: group, text: `${signal} of group ${group.id} ${effect}` };
    }),
});
