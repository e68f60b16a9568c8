/** Cancels a rollout, and signs that it is called off: its nodes then refuse the intent that began it. */
import type { Call, Result } from "../call.ts";
import { resolveRollout } from "../resolve.ts";
import { calledOff, cancelSigner } from "../rollout/called-off.ts";
import { signalRollout } from "../rollout/signal.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const rollout = await resolveRollout(session.api, call.args[0]!);
    const signer = await cancelSigner(call, session);
    const intent = signer === null ? null : calledOff(call, session, signer, rollout);
    const cancelled = await signalRollout(call, session.api, rollout, { verb: "cancel", intent });
    const signed = intent === null ? "" : ", signed as called off,";
    return { data: cancelled.rollout, text: `cancel of rollout ${rollout.id}${signed} ${cancelled.effect}` };
  });
