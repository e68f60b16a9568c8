/** The empty intent that calls a rollout off: nodes that have it refuse what was signed before. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import { signIntent } from "../../trust/intent.ts";
import type { Signer } from "../../trust/keys.ts";
import type { Call } from "../call.ts";
import { optionsOf } from "../options.ts";
import { listRollouts } from "../pages.ts";
import { pinsOf } from "../pins.ts";
import type { Session } from "../session.ts";
import { voidIntent } from "./intent.ts";
import { releaseSigner } from "./release-signer.ts";

const Options = z.object({
  releaseKey: z.string().optional(),
  /** Undefined: where there is a key. */
  sign: z.boolean().optional(),
});

/** Null where nothing is to be signed, or there is no key to sign with. */
export async function cancelSigner(call: Call, session: Session): Promise<Signer | null> {
  const { releaseKey, sign } = optionsOf(Options, call.options);
  if (sign === false) return null;
  const signer = await releaseSigner(releaseKey, session);
  if (signer === null && sign === true)
    throw new FairleadError(
      "INTENT_REQUIRED",
      `context ${session.name} has no release key to sign the cancel with: give --release-key FILE`,
    );
  return signer;
}

/** The cancel of a rollout, or its signature alone where the rollout was cancelled before without one. */
export const isSignatureAlone = (call: Call, { status, cancel_requested }: RolloutView): boolean =>
  optionsOf(Options, call.options).sign === true && (status === "cancelled" || cancel_requested);

/** Null for a rollout that no intent began, or whose intent is called off already. */
export async function calledOff(
  { io }: Call,
  session: Session,
  signer: Signer,
  rollout: RolloutView,
): Promise<string | null> {
  if (rollout.intent === null || rollout.intent.voided) return null;
  const now = io.now();
  const intent = voidIntent({
    clusterId: pinsOf(session).cluster_id,
    rolloutId: rollout.id,
    profile: rollout.chain_profile_id,
    serial: (await isNewest(session, rollout)) ? now : Math.min(now, rollout.intent.serial + 1),
    now,
    canarySeed: io.randomBytes(32),
  });
  return signIntent(intent, signer).toString("base64");
}

/**
 * Nodes count serials by profile: after a later rollout, an empty intent of now would outdate that one's intent as well.
 * The next serial after its own outdates this rollout alone; nodes that know the later intent refuse the older one anyway.
 */
async function isNewest({ api }: Session, { id, group_id, chain_profile_id }: RolloutView): Promise<boolean> {
  const [newest] = await listRollouts(api, { chain_profile_id }, 1);
  return newest === undefined || newest.id === id || (group_id !== null && newest.group_id === group_id);
}
