/**
 * A head (SNAP-17): the newest version and hash of each scope of one node, and what was revoked for it, signed for a few
 * minutes. It tells a node that it is held back, and that the revocations it knows are the newest.
 */
import { z } from "zod";
import { ClusterId, Digest, Instant, KeyId, NodeId } from "../ids.ts";
import { SignatureAlgorithm, SnapshotVersion } from "./envelope.ts";
import { Revocation, REVOCATION_PAGES_MAX, REVOCATIONS_PER_PAGE } from "./revocation.ts";
import { ScopeType } from "./scopes.ts";

export const HEAD_SCHEMA_VERSION = 1;

export const HeadHeader = z.strictObject({
  schema_version: z.int(),
  cluster_id: ClusterId,
  subject_node_id: NodeId,
  authority_epoch: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  issued_at: Instant,
  expires_at: Instant,
  signer_key_id: KeyId,
  signature_algorithm: SignatureAlgorithm,
  content_hash: Digest,
  /** As in a snapshot's header. */
  co_signer_key_ids: z.array(KeyId).min(1).max(3).optional(),
});
export type HeadHeader = z.infer<typeof HeadHeader>;

export const HeadContent = z.strictObject({
  scopes: z.partialRecord(ScopeType, z.strictObject({ ...SnapshotVersion.shape, content_hash: Digest })),
  revoked: z.array(Revocation).max(2 * REVOCATIONS_PER_PAGE),
  /** Digests of the pages with the rest of what was revoked; absent where the list above is all of it (SNAP-10). */
  revoked_pages: z.array(Digest).min(1).max(REVOCATION_PAGES_MAX).optional(),
});
export type HeadContent = z.infer<typeof HeadContent>;
