/** The intent of a rollout, composed and signed on the operator's machine (SNAP-15). */
import type { ClusterId, Digest, ProfileId, RolloutId } from "../../core/ids.ts";
import type { Intent, IntentLeaf } from "../../core/protocol/intent.ts";
import type { RunSpec } from "../../core/upgrade/job.ts";
import { runDigest, signIntent } from "../../trust/intent.ts";
import type { Signer } from "../../trust/keys.ts";
import { nodesTree } from "../../trust/merkle.ts";

/** A node whose clock runs behind must not find the window unopened. */
const CLOCK_SKEW_MS = 5 * 60_000;

export interface IntentFacts {
  /** From the pins of the context, never from the server. */
  readonly clusterId: ClusterId;
  readonly rolloutId: RolloutId;
  readonly wish: { readonly profile: ProfileId; readonly run: RunSpec };
  readonly leaves: readonly IntentLeaf[];
  readonly fingerprint: Digest;
  readonly now: number;
  readonly windowMs: number;
  readonly maxAttempts: number;
  readonly rollback: boolean;
  /** 32 random bytes: batches are ordered by it, and nobody can have chosen it. */
  readonly canarySeed: Buffer;
}

export function composeIntent(facts: IntentFacts): Intent {
  const at = (ms: number): string => new Date(ms).toISOString();
  return {
    cluster_id: facts.clusterId,
    rollout_id: facts.rolloutId,
    serial: facts.now,
    chain_profile_id: facts.wish.profile,
    fingerprint: facts.fingerprint,
    run_digest: runDigest(facts.wish.run),
    nodes_root: nodesTree(facts.leaves).root,
    canary_seed: facts.canarySeed.toString("hex"),
    not_before: at(facts.now - CLOCK_SKEW_MS),
    not_after: at(facts.now + facts.windowMs),
    max_attempts: facts.maxAttempts,
    rollback: facts.rollback ? "previous" : "none",
  };
}

/** Outdates every intent of the profile with a lower serial. Its own window means nothing. */
export function voidIntent(
  facts: Pick<IntentFacts, "clusterId" | "rolloutId" | "now" | "canarySeed"> & {
    readonly profile: ProfileId;
    readonly serial: number;
  },
): Intent {
  const at = (ms: number): string => new Date(ms).toISOString();
  return {
    cluster_id: facts.clusterId,
    rollout_id: facts.rolloutId,
    serial: facts.serial,
    chain_profile_id: facts.profile,
    fingerprint: null,
    run_digest: null,
    nodes_root: null,
    canary_seed: facts.canarySeed.toString("hex"),
    not_before: at(facts.now - CLOCK_SKEW_MS),
    not_after: at(facts.now),
    max_attempts: 1,
    rollback: "none",
  };
}

export const signedIntent = (facts: IntentFacts, signer: Signer): string =>
  signIntent(composeIntent(facts), signer).toString("base64");
