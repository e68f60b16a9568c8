/** Cancels a rollout, and signs that it is called off: its nodes then refuse the intent that began it. */
import { z } from "zod";
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import { signIntent } from "../../trust/intent.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { pinsOf } from "../pins.ts";
import { resolveRollout } from "../resolve.ts";
import { voidIntent } from "../rollout/intent.ts";
import { releaseSigner } from "../rollout/release-signer.ts";
import { signalRollout } from "../rollout/signal.ts";
import { standing } from "../rollout/standing.ts";
import { withSession, type Session } from "../session.ts";

const Options = z.object({
  releaseKey: z.string().optional(),
  sign: z.boolean(),
});
type Options = z.infer<typeof Options>;

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    const rollout = await resolveRollout(session.api, call.args[0]!);
    const intent = await calledOff(call, session, options, rollout);
    const cancelled = await signalRollout(call, session.api, rollout, { verb: "cancel", intent });
    const signed = intent === null ? "" : ", signed as called off";
    return {
      data: cancelled,
      text: `cancel of rollout ${rollout.id} is noted${signed}; it is ${standing(cancelled)}`,
    };
  });

/** Null for a rollout that no intent began, and where there is no key to sign with. */
async function calledOff(
  { io }: Call,
  session: Session,
  options: Options,
  rollout: RolloutView,
): Promise<string | null> {
  if (!options.sign || rollout.intent === null) return null;
  const signer = await releaseSigner(options.releaseKey, session);
  if (signer === null) return null;
  const intent = voidIntent({
    clusterId: pinsOf(session).cluster_id,
    rolloutId: rollout.id,
    profile: rollout.chain_profile_id,
    now: io.now(),
    canarySeed: io.randomBytes(32),
  });
  return signIntent(intent, signer).toString("base64");
}
