/** Check 11 for a trust bundle: what its schema alone cannot say, and what may not go back (SNAP-8). */
import { FairleadError } from "../core/errors.ts";
import type { KeyRecord, TrustBundle } from "../core/snapshot/trust-bundle.ts";
import { loadPublicKey } from "./keys.ts";
import type { ContentFailure } from "./snapshot-subject.ts";

type BundleRule = (bundle: TrustBundle, previous: TrustBundle | null) => ContentFailure | null;

const RULES: readonly BundleRule[] = [
  thresholdReachable,
  intentsStayRequired,
  revokedStayRevoked,
  noRevokedKeyUsable,
  everyKeyLoads,
];

export function checkBundleRules(bundle: TrustBundle, previous: TrustBundle | null): ContentFailure | null {
  for (const rule of RULES) {
    const failure = rule(bundle, previous);
    if (failure !== null) return failure;
  }
  return null;
}

function thresholdReachable({ root }: TrustBundle): ContentFailure | null {
  if (root.threshold <= root.keys.length) return null;
  return { field: "root.threshold", reason: "more signatures asked for than keys exist" };
}

function intentsStayRequired(bundle: TrustBundle, previous: TrustBundle | null): ContentFailure | null {
  if (previous?.intents_required !== true || bundle.intents_required) return null;
  return { field: "intents_required", reason: "it only ever goes up" };
}

function revokedStayRevoked(bundle: TrustBundle, previous: TrustBundle | null): ContentFailure | null {
  const back = previous?.revoked_keys.find((keyId) => !bundle.revoked_keys.includes(keyId));
  if (back === undefined) return null;
  return { field: "revoked_keys", reason: `key ${back.slice(0, 12)} was revoked and stays so` };
}

function noRevokedKeyUsable(bundle: TrustBundle): ContentFailure | null {
  for (const [field, keys] of groupsOf(bundle)) {
    const revoked = keys.find(({ key_id }) => bundle.revoked_keys.includes(key_id));
    if (revoked !== undefined) return { field, reason: `key ${revoked.key_id.slice(0, 12)} is revoked` };
  }
  return null;
}

function everyKeyLoads(bundle: TrustBundle): ContentFailure | null {
  const seen = new Set<string>();
  for (const [field, keys] of groupsOf(bundle)) {
    for (const record of keys) {
      if (seen.has(record.key_id)) return { field, reason: `key ${record.key_id.slice(0, 12)} stands twice` };
      seen.add(record.key_id);
      try {
        loadPublicKey(record);
      } catch (error) {
        if (error instanceof FairleadError) return { field, reason: error.message };
        throw error;
      }
    }
  }
  return null;
}

const groupsOf = (bundle: TrustBundle): readonly (readonly [string, readonly KeyRecord[]])[] => [
  ["root", bundle.root.keys],
  ["online_keys", bundle.online_keys],
  ["release_keys", bundle.release_keys],
  ["publisher_keys", bundle.publisher_keys],
];
