/** Cancels a rollout, and signs that it is called off: its nodes then refuse the intent that began it. */
import { z } from "zod";
import { LIMITS } from "../../core/limits.ts";
import { RolloutView } from "../../core/protocol/operator-api.ts";
import { signIntent } from "../../trust/intent.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { pinsOf } from "../pins.ts";
import { resolveRollout } from "../resolve.ts";
import { voidIntent } from "../rollout/intent.ts";
import { releaseSigner } from "../rollout/release-signer.ts";
import { withSession, type Session } from "../session.ts";

const Options = z.object({
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
  releaseKey: z.string().optional(),
  sign: z.boolean(),
});
type Options = z.infer<typeof Options>;

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    const rollout = await resolveRollout(session.api, call.args[0]!);
    const intent = await calledOff(call, session, options, rollout);
    const reason = options.reason === undefined ? {} : { reason: options.reason };
    const body = { ...reason, ...(intent === null ? {} : { intent }) };
    const cancelled = await session.api.post(`/api/v1/rollouts/${rollout.id}/cancel`, body, RolloutView);
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

const standing = ({ status, cancel_requested }: RolloutView): string =>
  cancel_requested && status === "running" ? "running and ends after this batch" : status;
