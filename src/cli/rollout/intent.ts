/** The intent of a rollout, composed and signed on the operator's machine (SNAP-15). */
import { Digest, type ClusterId, type NodeId, type ProfileId, type RolloutId } from "../../core/ids.ts";
import type { Intent, IntentLeaf } from "../../core/protocol/intent.ts";
import { runDigest, signIntent } from "../../trust/intent.ts";
import type { Signer } from "../../trust/keys.ts";
import { nodesTree } from "../../trust/merkle.ts";
import type { Wish } from "./wish.ts";

/** A node whose clock runs behind must not find the window unopened. */
const CLOCK_SKEW_MS = 5 * 60_000;

export interface IntentFacts {
  /** From the pins of the context, never from the server. */
  readonly clusterId: ClusterId;
  readonly rolloutId: RolloutId;
  readonly nodeIds: readonly NodeId[];
  readonly wish: Pick<Wish, "profile" | "run" | "configs">;
  readonly fingerprint: Digest;
  readonly now: number;
  readonly windowMs: number;
  readonly maxAttempts: number;
  readonly rollback: boolean;
  /** 32 random bytes: batches are ordered by it, and nobody can have chosen it. */
  readonly canarySeed: Buffer;
}

export const leavesOf = ({ nodeIds, wish }: Pick<IntentFacts, "nodeIds" | "wish">): IntentLeaf[] =>
  nodeIds.map((node_id) => ({ node_id, configs: [...wish.configs] }));

export function composeIntent(facts: IntentFacts): Intent {
  const at = (ms: number): string => new Date(ms).toISOString();
  return {
    cluster_id: facts.clusterId,
    rollout_id: facts.rolloutId,
    serial: facts.now,
    chain_profile_id: facts.wish.profile,
    fingerprint: facts.fingerprint,
    run_digest: runDigest(facts.wish.run),
    nodes_root: nodesTree(leavesOf(facts)).root,
    canary_seed: facts.canarySeed.toString("hex"),
    not_before: at(facts.now - CLOCK_SKEW_MS),
    not_after: at(facts.now + facts.windowMs),
    max_attempts: facts.maxAttempts,
    rollback: facts.rollback ? "previous" : "none",
  };
}

/** Outdates every intent of the profile that was signed before it. Its own window means nothing. */
export function voidIntent(
  facts: Pick<IntentFacts, "clusterId" | "rolloutId" | "now" | "canarySeed"> & {
    readonly profile: ProfileId;
  },
): Intent {
  const at = (ms: number): string => new Date(ms).toISOString();
  return {
    cluster_id: facts.clusterId,
    rollout_id: facts.rolloutId,
    serial: facts.now,
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

/** Null for what is no fingerprint: nothing can be signed for it, and the server says what is wrong with it. */
export function fingerprintOf({ checksum }: Wish): Digest | null {
  const parsed = Digest.safeParse(checksum);
  return parsed.success ? parsed.data : null;
}
