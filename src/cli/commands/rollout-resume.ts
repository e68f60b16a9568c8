/**
 * resume, rollback and approve-canary. When the window of the rollout's intent has closed, the operator signs the same wish again:
 * from a file of his own or typed words, as at its creation.
 */
import type { Call, Result } from "../call.ts";
import { resolveRollout } from "../resolve.ts";
import { signAgain } from "../rollout/sign-again.ts";
import { signalRollout } from "../rollout/signal.ts";
import { withSession } from "../session.ts";

export const signedSignalCommand = (signal: "resume" | "rollback" | "approve-canary") => ({
  run: (call: Call): Promise<Result> =>
    withSession(call, async (session) => {
      const before = await resolveRollout(session.api, call.args[0]!);
      const intent = await signAgain(call, session, before.id);
      const { rollout, effect } = await signalRollout(call, session.api, before, { verb: signal, intent });
      const how = intent === null ? "" : " under a new intent";
      return { data: rollout, text: `${signal} of rollout ${rollout.id}${how} ${effect}` };
    }),
});
