/** The same wish signed once more, when the window of a rollout's intent has closed: for resume and rollback. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Digest, ProfileId, type RolloutId } from "../../core/ids.ts";
import { RunSpec } from "../../core/upgrade/job.ts";
import type { ConfigPlan } from "../../render/configs.ts";
import type { Call } from "../call.ts";
import { count, DurationMs, KeyValues, optionsOf } from "../options.ts";
import { listNodes, listUpgrades } from "../pages.ts";
import { pinsOf } from "../pins.ts";
import { readRollout } from "../resolve.ts";
import type { Session } from "../session.ts";
import { signedIntent, type IntentFacts } from "./intent.ts";
import { leavesFor, sharedLeaves } from "./leaves.ts";
import { openWish } from "./manifest-wish.ts";
import { announcement, releaseSigner } from "./release-signer.ts";

const Options = z.object({
  manifest: z.string().optional(),
  templates: z.string().optional(),
  profile: ProfileId.optional(),
  checksum: Digest.optional(),
  arg: z.array(z.string()),
  env: KeyValues,
  user: z.string().optional(),
  maxAttempts: count(1, 100),
  window: DurationMs.refine((ms) => ms > 0, "longer than nothing"),
  rollback: z.boolean(),
  releaseKey: z.string().optional(),
});
type Options = z.infer<typeof Options>;

/** Null when the call names no wish: then what was signed before must still hold. */
export async function signAgain(call: Call, session: Session, id: RolloutId): Promise<string | null> {
  const options = optionsOf(Options, call.options);
  const wish = await wishToSign(options);
  return wish === null ? null : signWish(call, session, options, id, wish);
}

interface WishToSign {
  readonly wish: IntentFacts["wish"];
  readonly fingerprint: Digest;
  plan(sourceVersion: string): ConfigPlan;
}

async function wishToSign(options: Options): Promise<WishToSign | null> {
  const { manifest: file, templates, profile, checksum } = options;
  if (file !== undefined) {
    if (profile !== undefined || checksum !== undefined) {
      throw new FairleadError("USAGE", "--manifest says what to sign: leave out --profile and --checksum");
    }
    const { manifest, plan } = await openWish({ flag: "--manifest", file, templates });
    const wish = { profile: manifest.chain_profile_id, run: manifest.run };
    return { wish, fingerprint: Digest.parse(manifest.target_checksum), plan };
  }
  if (profile === undefined && checksum === undefined) return null;
  if (profile === undefined || checksum === undefined)
    throw new FairleadError("USAGE", "--profile and --checksum go together");
  const run = RunSpec.parse({ args: options.arg, env: options.env, user: options.user ?? null });
  return { wish: { profile, run }, fingerprint: checksum, plan: () => ({ shared: [], own: null }) };
}

async function signWish(
  { io, json }: Call,
  session: Session,
  options: Options,
  id: RolloutId,
  { wish, fingerprint, plan }: WishToSign,
): Promise<string> {
  const signer = await releaseSigner(options.releaseKey, session);
  if (signer === null) throw new FairleadError("USAGE", "--release-key: the context names no release key");
  const { source_version, chain_profile_id } = await readRollout(session.api, id);
  const configs = plan(source_version);
  const upgrades = await listUpgrades(session.api, id);
  const ids = upgrades.map((node) => node.node_id);
  const leaves =
    configs.own === null
      ? sharedLeaves(configs, ids)
      : leavesFor(configs, await nodesOf(session, chain_profile_id, ids));
  const names = upgrades.map((node) => node.node_name);
  if (!json) io.stderr.write(`${announcement(names, signer)}\n`);
  return signedIntent(
    {
      clusterId: pinsOf(session).cluster_id,
      rolloutId: id,
      wish,
      leaves,
      fingerprint,
      now: io.now(),
      windowMs: options.window,
      maxAttempts: options.maxAttempts,
      rollback: options.rollback,
      canarySeed: io.randomBytes(32),
    },
    signer,
  );
}

/** Their names and labels, which templates fill in. */
async function nodesOf({ api }: Session, profile: ProfileId, ids: readonly string[]) {
  const wanted = new Set<string>(ids);
  return (await listNodes(api, { chain_profile_id: profile })).filter((node) => wanted.has(node.id));
}
