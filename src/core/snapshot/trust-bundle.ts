/** The content of the `trust_bundle` scope: every key a node believes, and for what (SNAP-8, SNAP-15). */
import { z } from "zod";
import { Instant, KeyId, Name, ProfileId } from "../ids.ts";
import { SignatureAlgorithm } from "./envelope.ts";
import { ScopeType } from "./scopes.ts";

const PublicKeyBase64 = z
  .string()
  .max(2048)
  .regex(/^[A-Za-z0-9+/]+={0,2}$/);

/** The algorithm comes from this record, never from a message. */
const KeyRecord = z.strictObject({
  key_id: KeyId,
  algorithm: SignatureAlgorithm,
  public_key: PublicKeyBase64,
});
export type KeyRecord = z.infer<typeof KeyRecord>;

const BoundedKey = KeyRecord.extend({ valid_from: Instant, valid_until: Instant });

export const RootSet = z.strictObject({
  threshold: z.int().min(1).max(16),
  keys: z.array(KeyRecord).min(1).max(16),
});
export type RootSet = z.infer<typeof RootSet>;

export const OnlineKey = BoundedKey.extend({ scopes: z.array(ScopeType).min(1) });
export type OnlineKey = z.infer<typeof OnlineKey>;

export const ReleaseKey = BoundedKey.extend({
  name: Name,
  /** Empty means every profile. */
  profiles: z.array(ProfileId).max(100),
});
export type ReleaseKey = z.infer<typeof ReleaseKey>;

/** The one reason that lowers a node's floor of time, to the bundle's own `issued_at` (SNAP-17). */
export const TIME_RESET = "time_reset";

/** Why versions may go back, once (SNAP-11): only root keys sign this, and only into a newer epoch. */
export const Recovery = z.strictObject({
  from_epoch: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  reason: z.enum(["database_restored", "versions_exhausted", "key_compromised", TIME_RESET]),
  opened_at: Instant,
});
export type Recovery = z.infer<typeof Recovery>;

export const TrustBundle = z.strictObject({
  /** A bundle marked demo is refused by an agent on anything but loopback. */
  demo: z.boolean(),
  /** Only ever goes up: a later bundle cannot turn it off. */
  intents_required: z.boolean(),
  root: RootSet,
  online_keys: z.array(OnlineKey).max(16),
  release_keys: z.array(ReleaseKey).max(100),
  /** For artifacts and manifests, bounded as release keys are. Named and listed; no signature of theirs is asked for yet. */
  publisher_keys: z.array(ReleaseKey).max(100),
  /** Only ever grows: revocation is by key, and a later bundle cannot bring one back. */
  revoked_keys: z.array(KeyId).max(1000),
  /** Null unless this bundle's epoch is newer than that of the one before it. */
  recovery: Recovery.nullable(),
});
export type TrustBundle = z.infer<typeof TrustBundle>;
