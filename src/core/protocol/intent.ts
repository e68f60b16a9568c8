/**
 * An intent is an operator's signed wish (SNAP-15): these bytes, run this way, on these nodes, in this window.
 * The control plane carries it and cannot make one.
 */
import { z } from "zod";
import { ClusterId, Digest, Instant, NodeId, ProfileId, RolloutId } from "../ids.ts";
import { ConfigRef } from "../upgrade/job.ts";
import { LIMITS } from "../limits.ts";

export const INTENT_DOMAIN = "fairlead/intent/v1";

const Hex32 = z.string().regex(/^[0-9a-f]{64}$/);

export const Intent = z.strictObject({
  cluster_id: ClusterId,
  rollout_id: RolloutId,
  /** Ever higher per profile; an agent refuses a lower one. */
  serial: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  chain_profile_id: ProfileId,
  /** Null in an empty intent, which authorises nothing and outdates what came before (cancel). */
  fingerprint: Digest.nullable(),
  run_digest: Digest.nullable(),
  nodes_root: Hex32.nullable(),
  /** Orders canaries and batches by HMAC, so that nobody can choose who goes first. */
  canary_seed: Hex32,
  not_before: Instant,
  not_after: Instant,
  max_attempts: z.int().min(1).max(100),
  rollback: z.enum(["previous", "none"]),
});
export type Intent = z.infer<typeof Intent>;

/** An intent with its signature, as requests carry it. */
export const SignedIntent = z.base64().max(64 * 1024);

/** Authorises nothing; outdates every intent of its profile with a lower serial. */
export const isVoid = ({ fingerprint, run_digest, nodes_root }: Intent): boolean =>
  fingerprint === null && run_digest === null && nodes_root === null;

/** The Merkle leaf of one node: what this intent puts on it beside the program. */
export const IntentLeaf = z.strictObject({
  node_id: NodeId,
  configs: z.array(ConfigRef).max(LIMITS.configFilesMax),
});
export type IntentLeaf = z.infer<typeof IntentLeaf>;

export const MerkleProof = z
  .array(z.strictObject({ side: z.enum(["left", "right"]), hash: Hex32 }))
  .max(LIMITS.merkleProofDepthMax);
export type MerkleProof = z.infer<typeof MerkleProof>;
