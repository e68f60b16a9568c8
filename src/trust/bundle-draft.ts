/**
 * The next trust bundle of a site, for the people who hold its root keys: composed, signed by one, then by others, each
 * on a machine of their own (SNAP-8, SNAP-15).
 */
import { FairleadError } from "../core/errors.ts";
import type { ClusterId, KeyId, SnapshotId } from "../core/ids.ts";
import { SHARED_SUBJECT } from "../core/snapshot/envelope.ts";
import type {
  KeyRecord,
  OnlineKey,
  Recovery,
  ReleaseKey,
  RootSet,
  TrustBundle,
} from "../core/snapshot/trust-bundle.ts";
import { appendSignature, decodeFrame } from "./frame.ts";
import type { Signer } from "./keys.ts";
import { signSnapshot } from "./snapshot.ts";
import { SNAPSHOT_DOMAIN } from "./snapshot-signer.ts";
import { checkBundleRules } from "./trust-bundle-rules.ts";
import { validSignatures } from "./trusted-keys.ts";

export type BundleChange =
  | { readonly kind: "introduce"; readonly authority: "online"; readonly key: OnlineKey }
  | { readonly kind: "introduce"; readonly authority: "release" | "publisher"; readonly key: ReleaseKey }
  /** With `threshold`, how many of the new set must sign from then on. */
  | {
      readonly kind: "introduce";
      readonly authority: "root";
      readonly key: KeyRecord;
      readonly threshold?: number;
    }
  | { readonly kind: "retire"; readonly keyId: KeyId; readonly threshold?: number }
  | { readonly kind: "revoke"; readonly keyId: KeyId; readonly threshold?: number }
  | { readonly kind: "epoch"; readonly recovery: Recovery }
  /** The same again, with a new end. */
  | { readonly kind: "renew" };

/** Throws BUNDLE_REFUSED for a change that no node would accept. */
export function nextBundle(current: TrustBundle, change: BundleChange): TrustBundle {
  const next = changed({ ...current, recovery: null }, change);
  const failure = checkBundleRules(next, current);
  if (failure !== null) throw refused(`${failure.field}: ${failure.reason}`);
  return next;
}

function changed(bundle: TrustBundle, change: BundleChange): TrustBundle {
  switch (change.kind) {
    case "introduce":
      return introduced(bundle, change);
    case "retire":
      return without(bundle, change.keyId, change.threshold);
    case "revoke": {
      const isListed = bundle.revoked_keys.includes(change.keyId);
      if (isListed) throw refused(`key ${change.keyId.slice(0, 12)} is revoked already`);
      const rest = without(bundle, change.keyId, change.threshold, { orUnknown: true });
      return { ...rest, revoked_keys: [...bundle.revoked_keys, change.keyId] };
    }
    case "epoch":
      return { ...bundle, recovery: change.recovery };
    case "renew":
      return bundle;
  }
}

function introduced(bundle: TrustBundle, change: Extract<BundleChange, { kind: "introduce" }>): TrustBundle {
  switch (change.authority) {
    case "online":
      return { ...bundle, online_keys: [...bundle.online_keys, change.key] };
    case "release":
      return { ...bundle, release_keys: [...bundle.release_keys, change.key] };
    case "publisher":
      return { ...bundle, publisher_keys: [...bundle.publisher_keys, change.key] };
    case "root": {
      const { keys, threshold } = bundle.root;
      return { ...bundle, root: { keys: [...keys, change.key], threshold: change.threshold ?? threshold } };
    }
  }
}

/** A key that stolen hands made known nowhere can still be revoked; one that nobody knows cannot be retired. */
function without(
  bundle: TrustBundle,
  keyId: KeyId,
  threshold = bundle.root.threshold,
  { orUnknown = false } = {},
): TrustBundle {
  const others = <T extends KeyRecord>(keys: readonly T[]): T[] => keys.filter((key) => key.key_id !== keyId);
  const { root, online_keys, release_keys, publisher_keys } = bundle;
  const isKnown = [root.keys, online_keys, release_keys, publisher_keys].some((keys) =>
    keys.some((key) => key.key_id === keyId),
  );
  if (!isKnown && !orUnknown) throw refused(`key ${keyId.slice(0, 12)} is not in the trust bundle`);
  return {
    ...bundle,
    root: { threshold, keys: others(root.keys) },
    online_keys: others(online_keys),
    release_keys: others(release_keys),
    publisher_keys: others(publisher_keys),
  };
}

export interface BundleDraft {
  readonly snapshotId: SnapshotId;
  readonly clusterId: ClusterId;
  readonly version: number;
  readonly epoch: number;
  readonly content: TrustBundle;
  readonly issuedAt: number;
  readonly lifetimeMs: number;
}

/** Signed by one root key of the set in force; the others add theirs to the finished frame. */
export const draftBundle = ({ content, ...draft }: BundleDraft, signer: Signer): Buffer =>
  signSnapshot({ ...draft, subject: SHARED_SUBJECT, scope: "trust_bundle", roles: [], content }, [signer])
    .frame;

export function addRootSignature(frame: Uint8Array, signer: Signer): Buffer {
  const { signatures } = decodeFrame(frame);
  if (signatures.some(({ key_id }) => key_id === signer.record.key_id))
    throw refused(`key ${signer.record.key_id.slice(0, 12)} signed it already`);
  return appendSignature(SNAPSHOT_DOMAIN, frame, signer);
}

/** Who of a root set has signed so far. */
export const rootSignatures = (
  frame: Uint8Array,
  root: RootSet,
): { readonly valid: KeyId[]; readonly threshold: number } => ({
  valid: [...validSignatures(SNAPSHOT_DOMAIN, decodeFrame(frame), root.keys)],
  threshold: root.threshold,
});

const refused = (why: string): FairleadError =>
  new FairleadError("BUNDLE_REFUSED", `the trust bundle is refused: ${why}`);
