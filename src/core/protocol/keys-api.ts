/** What the operators' API says about signing keys and trust bundles. Private halves appear in none of it. */
import { z } from "zod";
import { Instant, KeyId, Name, NodeId, ProfileId } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { SignatureAlgorithm } from "../snapshot/envelope.ts";
import { ScopeType } from "../snapshot/scopes.ts";
import { KeyAuthority, KeyState } from "../snapshot/signing-keys.ts";

export const KeyView = z.object({
  key_id: KeyId,
  authority: KeyAuthority,
  name: z.string(),
  algorithm: SignatureAlgorithm,
  public_key: z.string(),
  scopes: z.array(ScopeType),
  profiles: z.array(ProfileId),
  state: KeyState,
  valid_from: Instant.nullable(),
  valid_until: Instant.nullable(),
  /** The first trust bundle that named it. */
  bundle_version: z.int().nullable(),
  retire_by: Instant.nullable(),
  changed_at: Instant,
  changed_by: z.string(),
  /** How many of the nodes that count hold that bundle, or a newer one. */
  confirmed_by: z.int(),
  next: z.string(),
});
export type KeyView = z.infer<typeof KeyView>;

export const KeyList = z.object({
  keys: z.array(KeyView),
  /** Enrolled and not revoked. */
  nodes: z.int(),
  bundle: z.object({ epoch: z.int(), version: z.int() }).nullable(),
});
export type KeyList = z.infer<typeof KeyList>;

const DeadlineMs = z
  .int()
  .min(0)
  .max(365 * 24 * 3_600_000)
  .default(LIMITS.keyRetireDeadlineMs);
const Abandon = z.array(NodeId).max(10_000).default([]);
const Reason = z.string().max(LIMITS.reasonCharsMax);

export const KeyProposal = z.strictObject({ name: Name });
export const PromoteRequest = z.strictObject({ abandon: Abandon, deadline_ms: DeadlineMs });
export const RetireRequest = z.strictObject({ deadline_ms: DeadlineMs });

export const BundleUpload = z.strictObject({
  trust_bundle: z.base64().max(LIMITS.requestBytesMax),
  abandon: Abandon,
  reason: Reason.optional(),
});
export type BundleUpload = z.infer<typeof BundleUpload>;

export const BundleView = z.object({
  epoch: z.int(),
  version: z.int(),
  trust_bundle: z.base64(),
  /** The newest epoch and version that any node reported: a restored server is behind its nodes. */
  newest_reported: z.object({ epoch: z.int(), version: z.int() }).nullable(),
});
export type BundleView = z.infer<typeof BundleView>;

export const BundleTaken = z.object({
  epoch: z.int(),
  version: z.int(),
  changes: z.array(z.object({ key_id: KeyId, authority: KeyAuthority, state: KeyState })),
});
export type BundleTaken = z.infer<typeof BundleTaken>;
