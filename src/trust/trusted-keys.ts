/**
 * Which key may sign what, now.
 *
 * 1. A signature counts once per key, whatever ids or copies a frame carries.
 * 2. A threshold below one is not a threshold.
 */
import type { KeyObject } from "node:crypto";
import { FairleadError } from "../core/errors.ts";
import type { KeyId } from "../core/ids.ts";
import type { ProfileId } from "../core/ids.ts";
import type { ScopeType } from "../core/snapshot/scopes.ts";
import type {
  KeyRecord,
  OnlineKey,
  ReleaseKey,
  RootSet,
  TrustBundle,
} from "../core/snapshot/trust-bundle.ts";
import { verifySignature } from "./frame-signatures.ts";
import type { Frame } from "./frame.ts";
import { loadPublicKey } from "./keys.ts";

/** `local` is the machine's clock; `effective` never goes back (SNAP-17). Both in milliseconds. */
export interface TimeWindow {
  readonly local: number;
  readonly effective: number;
  /** The machine's clock is unset: `local` is the effective time, and root-signed bundles and heads tell the time. */
  readonly clockless?: boolean;
}

export type KeyLookup<T> =
  | { readonly kind: "trusted"; readonly record: T }
  | { readonly kind: "untrusted"; readonly reason: string };

const untrusted = (reason: string) => ({ kind: "untrusted", reason }) as const;

type Bounded = OnlineKey | ReleaseKey;

function boundedKey<T extends Bounded>(
  keys: readonly T[],
  bundle: TrustBundle,
  keyId: KeyId,
  time: TimeWindow,
  revokedKeys: readonly KeyId[],
): KeyLookup<T> {
  if (bundle.revoked_keys.includes(keyId) || revokedKeys.includes(keyId))
    return untrusted(`key ${keyId.slice(0, 12)} is revoked`);
  const record = keys.find((key) => key.key_id === keyId);
  if (record === undefined) return untrusted(`key ${keyId.slice(0, 12)} is not in the trust bundle`);
  if (Date.parse(record.valid_from) > time.local)
    return untrusted(`key ${keyId.slice(0, 12)} is not valid yet`);
  if (Date.parse(record.valid_until) <= time.effective)
    return untrusted(`key ${keyId.slice(0, 12)} has expired`);
  return { kind: "trusted", record };
}

export function onlineKeyFor(
  bundle: TrustBundle,
  keyId: KeyId,
  /** Null for what every online key may sign: heads. */
  scope: ScopeType | null,
  time: TimeWindow,
  /** By a head that is newer than the bundle. */
  revokedKeys: readonly KeyId[] = [],
): KeyLookup<OnlineKey> {
  const found = boundedKey(bundle.online_keys, bundle, keyId, time, revokedKeys);
  if (found.kind === "untrusted" || scope === null || found.record.scopes.includes(scope)) return found;
  return untrusted(`key ${keyId.slice(0, 12)} may not sign ${scope}`);
}

export function releaseKeyFor(
  bundle: TrustBundle,
  keyId: KeyId,
  profile: ProfileId,
  time: TimeWindow,
  revokedKeys: readonly KeyId[] = [],
): KeyLookup<ReleaseKey> {
  const found = boundedKey(bundle.release_keys, bundle, keyId, time, revokedKeys);
  if (found.kind === "untrusted") return found;
  const { profiles } = found.record;
  if (profiles.length === 0 || profiles.includes(profile)) return found;
  return untrusted(`key ${keyId.slice(0, 12)} may not sign for ${profile}`);
}

/** Loading a key costs as much as verifying with it. Kept by record, and only while that says the same. */
const loaded = new WeakMap<KeyRecord, { readonly of: KeyRecord; readonly key: KeyLookup<KeyObject> }>();

/** A record whose bytes are no key to be believed is a reason to refuse, not to crash: its signatures count for nothing. */
export function usableKey(record: KeyRecord): KeyLookup<KeyObject> {
  const { key_id, algorithm, public_key } = record;
  const kept = loaded.get(record);
  if (kept?.of.key_id === key_id && kept.of.algorithm === algorithm && kept.of.public_key === public_key)
    return kept.key;
  const key = tryLoad(record);
  loaded.set(record, { of: { key_id, algorithm, public_key }, key });
  return key;
}

function tryLoad(record: KeyRecord): KeyLookup<KeyObject> {
  try {
    return { kind: "trusted", record: loadPublicKey(record) };
  } catch (error) {
    if (error instanceof FairleadError) return untrusted(error.message);
    throw error;
  }
}

/** Invariant 1: each key of the set that signed, once. */
export function validSignatures(domain: string, frame: Frame, keys: readonly KeyRecord[]): Set<KeyId> {
  const valid = new Set<KeyId>();
  for (const signature of frame.signatures) {
    const { key_id } = signature;
    const record = keys.find((key) => key.key_id === key_id);
    if (record === undefined || valid.has(key_id)) continue;
    const key = usableKey(record);
    if (key.kind === "untrusted") continue;
    if (verifySignature(domain, frame.header, signature, record.algorithm, key.record)) valid.add(key_id);
  }
  return valid;
}

export function checkThreshold(
  domain: string,
  frame: Frame,
  set: RootSet | { readonly threshold: number; readonly keys: readonly KeyRecord[] },
):
  | { readonly kind: "ok"; readonly valid: ReadonlySet<string> }
  | { readonly kind: "short"; readonly reason: string } {
  if (!Number.isInteger(set.threshold) || set.threshold < 1)
    return { kind: "short", reason: "threshold below one" }; // (2)
  const valid = validSignatures(domain, frame, set.keys);
  if (valid.size >= set.threshold) return { kind: "ok", valid };
  return { kind: "short", reason: `${valid.size} valid signatures of ${set.threshold} needed` };
}
