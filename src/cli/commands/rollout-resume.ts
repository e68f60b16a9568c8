/**
 * Resumes a rollout. When the window of its intent has closed, the operator signs the same wish again:
 * from a file of his own or typed words, as at its creation.
 */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Digest, ProfileId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { RolloutView } from "../../core/protocol/operator-api.ts";
import { RunSpec } from "../../core/upgrade/job.ts";
import { parseManifest } from "../../host/manifest-file.ts";
import type { Call, Result } from "../call.ts";
import { readNamedFile } from "../operator-files.ts";
import { count, DurationMs, KeyValues, optionsOf } from "../options.ts";
import { listUpgrades } from "../pages.ts";
import { pinsOf } from "../pins.ts";
import { resolveRollout } from "../resolve.ts";
import { signedIntent, type IntentFacts } from "../rollout/intent.ts";
import { announcement, releaseSigner } from "../rollout/release-signer.ts";
import { signable } from "../rollout/wish.ts";
import { withSession, type Session } from "../session.ts";

const Options = z.object({
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
  manifest: z.string().optional(),
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

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    const { id } = await resolveRollout(session.api, call.args[0]!);
    const wish = await wishToSign(options);
    const intent = wish === null ? {} : { intent: await signAgain(call, session, options, id, wish) };
    const reason = options.reason === undefined ? {} : { reason: options.reason };
    const rollout = await session.api.post(
      `/api/v1/rollouts/${id}/resume`,
      { ...reason, ...intent },
      RolloutView,
    );
    const how = wish === null ? "" : " under a new intent";
    return { data: rollout, text: `resume of rollout ${id}${how} is noted; it is ${rollout.status}` };
  });

type WishToSign = IntentFacts["wish"] & { readonly fingerprint: Digest };

async function wishToSign(options: Options): Promise<WishToSign | null> {
  const { manifest, profile, checksum } = options;
  if (manifest !== undefined) {
    if (profile !== undefined || checksum !== undefined) {
      throw new FairleadError("USAGE", "--manifest says what to sign: leave out --profile and --checksum");
    }
    const bytes = await readNamedFile("--manifest", manifest, LIMITS.manifestBytesMax);
    const signed = signable(parseManifest(bytes, manifest));
    return { ...signed, fingerprint: Digest.parse(signed.checksum) };
  }
  if (profile === undefined && checksum === undefined) return null;
  if (profile === undefined || checksum === undefined)
    throw new FairleadError("USAGE", "--profile and --checksum go together");
  const run = RunSpec.parse({ args: options.arg, env: options.env, user: options.user ?? null });
  return { profile, run, configs: [], fingerprint: checksum };
}

async function signAgain(
  { io, json }: Call,
  session: Session,
  options: Options,
  id: RolloutView["id"],
  { fingerprint, ...wish }: WishToSign,
): Promise<string> {
  const signer = await releaseSigner(options.releaseKey, session);
  if (signer === null) throw new FairleadError("USAGE", "--release-key: the context names no release key");
  const nodes = await listUpgrades(session.api, id);
  if (!json)
    io.stderr.write(
      `${announcement(
        nodes.map((node) => node.node_name),
        signer,
      )}\n`,
    );
  return signedIntent(
    {
      clusterId: pinsOf(session).cluster_id,
      rolloutId: id,
      nodeIds: nodes.map((node) => node.node_id),
      wish,
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
