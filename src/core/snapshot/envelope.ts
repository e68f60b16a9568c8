/**
 * The signed envelope of a snapshot (SNAP-1): the seed's eighteen fields. Seventeen stand in the header;
 * the eighteenth, the signature, stands in the frame beside it, over the header's bytes. Co-signers are named as well.
 */
import { z } from "zod";
import { ClusterId, Digest, Instant, KeyId, NodeId, SnapshotId, Uuid } from "../ids.ts";
import { NodeRole, ScopeType } from "./scopes.ts";

export const SNAPSHOT_SCHEMA_VERSION = 1;
export const SHARED_SUBJECT = "shared";

export const SignatureAlgorithm = z.enum(["Ed25519", "RS256", "RSA-PSS"]);
export type SignatureAlgorithm = z.infer<typeof SignatureAlgorithm>;

/** Ordering numbers stay exact in JSON: no version beyond 2^53 - 1. */
const Counter = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const SnapshotHeader = z.strictObject({
  snapshot_id: SnapshotId,
  schema_version: z.int(),
  cluster_id: ClusterId,
  subject_node_id: z.union([NodeId, z.literal(SHARED_SUBJECT)]),
  scope_type: ScopeType,
  scope_ids: z.array(z.string().max(100)).max(100),
  roles: z.array(NodeRole).max(5),
  organization_ids: z.array(Uuid).max(1000),
  config_version: Counter,
  authority_epoch: Counter,
  issued_at: Instant,
  valid_from: Instant,
  expires_at: Instant,
  refresh_after: Instant,
  signer_key_id: KeyId,
  signature_algorithm: SignatureAlgorithm,
  content_hash: Digest,
  /** While keys rotate: who signed besides the signer. Named here, so that no signature can be swapped or dropped. */
  co_signer_key_ids: z.array(KeyId).min(1).max(3).optional(),
});
export type SnapshotHeader = z.infer<typeof SnapshotHeader>;

/** Versions are ordered by epoch first, then by number (SNAP-11). */
export interface SnapshotVersion {
  readonly epoch: number;
  readonly version: number;
}

/** In messages and state files. Signed content spells it out and is read strictly. */
export const SnapshotVersion = z.object({ epoch: Counter, version: Counter });

export const versionOf = (header: SnapshotHeader): SnapshotVersion => ({
  epoch: header.authority_epoch,
  version: header.config_version,
});

export const isNewer = (candidate: SnapshotVersion, accepted: SnapshotVersion): boolean =>
  candidate.epoch > accepted.epoch ||
  (candidate.epoch === accepted.epoch && candidate.version > accepted.version);
