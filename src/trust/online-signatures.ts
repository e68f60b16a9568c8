/**
 * Checks 4 and 5 for what the online keys sign: snapshots, increments and heads.
 *
 * 1. The signatures are exactly those that the signed header names, in its order: none is dropped, added or swapped.
 * 2. The first signer must be trusted. While keys rotate it may be one that this node has never heard of; then a
 *    co-signer must be trusted. A key that is known, but revoked, expired or for something else, never gets that far.
 * 3. Every signature by a key with a record here must verify, whether or not it was needed.
 */
import type { KeyId } from "../core/ids.ts";
import type { SignatureAlgorithm } from "../core/snapshot/envelope.ts";
import type { ScopeType } from "../core/snapshot/scopes.ts";
import type { OnlineKey, TrustBundle } from "../core/snapshot/trust-bundle.ts";
import { verifySignature } from "./frame-signatures.ts";
import type { Frame } from "./frame.ts";
import { onlineKeyFor, usableKey, type KeyLookup, type TimeWindow } from "./trusted-keys.ts";

export interface NamedSigners {
  readonly signer_key_id: KeyId;
  readonly signature_algorithm: SignatureAlgorithm;
  readonly co_signer_key_ids?: readonly KeyId[] | undefined;
}

export interface OnlineBelief {
  readonly bundle: TrustBundle;
  /** Beyond the bundle's own. */
  readonly revokedKeys: readonly KeyId[] | undefined;
  /** Null for what every online key may sign: heads. */
  readonly scope: ScopeType | null;
  readonly time: TimeWindow;
}

/** Why they may not sign this now, or null. */
export function whyUntrusted(header: NamedSigners, frame: Frame, belief: OnlineBelief): string | null {
  const lookUp = (keyId: KeyId): KeyLookup<OnlineKey> =>
    onlineKeyFor(belief.bundle, keyId, belief.scope, belief.time, belief.revokedKeys);
  const named = [header.signer_key_id, ...(header.co_signer_key_ids ?? [])];
  if (new Set(named).size !== named.length) return "a key is named twice";
  const isAsNamed =
    named.length === frame.signatures.length &&
    named.every((keyId, index) => frame.signatures[index]!.key_id === keyId);
  if (!isAsNamed) return "the signatures are not those that the header names"; // (1)
  const first = lookUp(header.signer_key_id);
  if (first.kind === "trusted") return whyUnusable(first.record, header.signature_algorithm);
  if (isKnown(belief, header.signer_key_id)) return first.reason; // (2)
  const trusted = named
    .slice(1)
    .map(lookUp)
    .find((found) => found.kind === "trusted");
  return trusted === undefined ? first.reason : whyUnusable(trusted.record, trusted.record.algorithm);
}

function whyUnusable(record: OnlineKey, algorithm: SignatureAlgorithm): string | null {
  if (record.algorithm !== algorithm) return "its algorithm differs from its record";
  const key = usableKey(record);
  return key.kind === "untrusted" ? key.reason : null;
}

function isKnown({ bundle, revokedKeys = [] }: OnlineBelief, keyId: KeyId): boolean {
  const { root, online_keys, release_keys, publisher_keys, revoked_keys } = bundle;
  const groups = [root.keys, online_keys, release_keys, publisher_keys];
  const isRevoked = revoked_keys.includes(keyId) || revokedKeys.includes(keyId);
  return isRevoked || groups.some((keys) => keys.some((key) => key.key_id === keyId));
}

/** After `whyUntrusted`, which found at least one trusted signer among them. */
export function whyNotSigned(domain: string, frame: Frame, bundle: TrustBundle): string | null {
  for (const signature of frame.signatures) {
    const { key_id } = signature;
    const record = bundle.online_keys.find((key) => key.key_id === key_id);
    if (record === undefined) continue;
    const key = usableKey(record);
    const isGood =
      key.kind === "trusted" &&
      verifySignature(domain, frame.header, signature, record.algorithm, key.record);
    if (!isGood) return `the signature of key ${key_id.slice(0, 12)} does not verify`; // (3)
  }
  return null;
}
