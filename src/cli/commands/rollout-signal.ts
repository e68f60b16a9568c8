/** Signals that need nothing but a reason: one shape, several words. */
import type { Call, Result } from "../call.ts";
import { resolveRollout } from "../resolve.ts";
import { signalRollout } from "../rollout/signal.ts";
import { withSession } from "../session.ts";

export const signalCommand = (signal: string) => ({
  run: (call: Call): Promise<Result> =>
    withSession(call, async ({ api }) => {
      const before = await resolveRollout(api, call.args[0]!);
      const { rollout, effect } = await signalRollout(call, api, before, { verb: signal });
      return { data: rollout, text: `${signal} of rollout ${rollout.id} ${effect}` };
    }),
});
