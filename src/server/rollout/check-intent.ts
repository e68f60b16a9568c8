/** An intent must be trusted, open, and say exactly what the request says. */
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId, Digest, ProfileId, RolloutId } from "../../core/ids.ts";
import type { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import type { RunSpec } from "../../core/upgrade/job.ts";
import { runDigest, verifyIntent, type VerifiedIntent } from "../../trust/intent.ts";

export interface IntentRules {
  readonly clusterId: ClusterId;
  bundle(): Promise<TrustBundle>;
}

export interface IntentClaim {
  readonly bytes: string | undefined;
  readonly rolloutId: RolloutId;
  readonly profile: ProfileId;
  readonly fingerprint: Digest;
  readonly run: RunSpec;
  readonly nodesRoot: string;
  readonly now: number;
}

export async function checkIntent(rules: IntentRules, claim: IntentClaim): Promise<VerifiedIntent | null> {
  const bundle = await rules.bundle();
  if (claim.bytes === undefined) {
    if (!bundle.intents_required) return null;
    throw new FairleadError("INTENT_REQUIRED", "this cluster runs only what a release key has signed");
  }
  const time = { local: claim.now, effective: claim.now };
  const verified = verifyIntent(Buffer.from(claim.bytes, "base64"), bundle, time);
  const { intent } = verified;
  const differs = (
    [
      ["cluster_id", intent.cluster_id === rules.clusterId],
      ["rollout_id", intent.rollout_id === claim.rolloutId],
      ["chain_profile_id", intent.chain_profile_id === claim.profile],
      ["fingerprint", intent.fingerprint === claim.fingerprint],
      ["run_digest", intent.run_digest === runDigest(claim.run)],
      ["nodes_root", intent.nodes_root === claim.nodesRoot],
    ] as const
  ).find(([, same]) => !same);
  if (differs !== undefined) {
    throw new FairleadError("INTENT_MISMATCH", `the intent's ${differs[0]} is not the request's`, {
      field: differs[0],
    });
  }
  if (Date.parse(intent.not_after) <= claim.now) {
    throw new FairleadError("INTENT_EXPIRED", `the intent's window closed at ${intent.not_after}`);
  }
  return verified;
}
