/** The empty intent that calls a rollout off: nodes that have it refuse what was signed before. */
import { z } from "zod";
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import { signIntent } from "../../trust/intent.ts";
import type { Signer } from "../../trust/keys.ts";
import type { Call } from "../call.ts";
import { optionsOf } from "../options.ts";
import { pinsOf } from "../pins.ts";
import type { Session } from "../session.ts";
import { voidIntent } from "./intent.ts";
import { releaseSigner } from "./release-signer.ts";

const Options = z.object({
  releaseKey: z.string().optional(),
  sign: z.boolean(),
});

/** Null where nothing is to be signed, or there is no key to sign with. */
export async function cancelSigner(call: Call, session: Session): Promise<Signer | null> {
  const { releaseKey, sign } = optionsOf(Options, call.options);
  return sign ? releaseSigner(releaseKey, session) : null;
}

/** Null for a rollout that no intent began. */
export function calledOff(
  { io }: Call,
  session: Session,
  signer: Signer,
  rollout: RolloutView,
): string | null {
  if (rollout.intent === null) return null;
  const intent = voidIntent({
    clusterId: pinsOf(session).cluster_id,
    rolloutId: rollout.id,
    profile: rollout.chain_profile_id,
    now: io.now(),
    canarySeed: io.randomBytes(32),
  });
  return signIntent(intent, signer).toString("base64");
}
