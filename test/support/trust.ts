/**
 * A site's keys and what they sign, for tests that look at what is believed. Everything is valid until a test says
 * otherwise.
 */
import { randomUUID } from "node:crypto";
import { SnapshotId } from "../../src/core/ids.ts";
import type { Json } from "../../src/core/json.ts";
import type { SnapshotHeader } from "../../src/core/snapshot/envelope.ts";
import { SCOPES, ScopeType } from "../../src/core/snapshot/scopes.ts";
import type { Assignment } from "../../src/core/snapshot/service-assignment.ts";
import type { TrustBundle } from "../../src/core/snapshot/trust-bundle.ts";
import { canonicalBytes } from "../../src/trust/canonical-json.ts";
import { digestOf } from "../../src/trust/digest.ts";
import { signFrame } from "../../src/trust/frame.ts";
import { generateSigner, type Signer } from "../../src/trust/keys.ts";
import { SNAPSHOT_DOMAIN } from "../../src/trust/snapshot-signer.ts";
import type { SnapshotContext } from "../../src/trust/snapshot-subject.ts";
import { at, CLUSTER, fingerprint, HOUR_MS, NODE, NOW, PROFILE, ROLLOUT } from "./trust-names.ts";

export * from "./trust-names.ts";
export * from "./trust-orders.ts";

export const newSigner = (): Signer => generateSigner().signer;

export interface Keys {
  readonly roots: readonly [Signer, Signer, Signer];
  readonly online: Signer;
  readonly release: Signer;
}

export const newKeys = (): Keys => ({
  roots: [newSigner(), newSigner(), newSigner()],
  online: newSigner(),
  release: newSigner(),
});

const bounded = (signer: Signer) => ({
  ...signer.record,
  valid_from: at(NOW - HOUR_MS),
  valid_until: at(NOW + 1000 * HOUR_MS),
});

/** Two of three roots, one online key for every scope it may have, one release key for every profile. */
export const bundleOf = (
  { roots, online, release }: Keys,
  changes: Partial<TrustBundle> = {},
): TrustBundle => ({
  demo: false,
  intents_required: true,
  root: { threshold: 2, keys: roots.map((root) => root.record) },
  online_keys: [
    { ...bounded(online), scopes: ScopeType.options.filter((scope) => SCOPES[scope].signer === "online") },
  ],
  release_keys: [{ ...bounded(release), name: "release", profiles: [] }],
  publisher_keys: [],
  revoked_keys: [],
  recovery: null,
  ...changes,
});

export interface SnapshotWish {
  readonly header?: { readonly [field: string]: Json };
  readonly content: Json;
  readonly signers: readonly [Signer, ...Signer[]];
  /** Content bytes as they stand, in place of the canonical ones. */
  readonly bytes?: Uint8Array;
}

/** Signs any header over any content, also what `signSnapshot` would never make. */
export function snapshotFrame({
  header = {},
  content,
  signers,
  bytes = canonicalBytes(content),
}: SnapshotWish) {
  const complete: SnapshotHeader = {
    snapshot_id: SnapshotId.parse(randomUUID()),
    schema_version: 1,
    cluster_id: CLUSTER,
    subject_node_id: NODE,
    scope_type: "service_assignment",
    scope_ids: [],
    roles: ["egress_service"],
    organization_ids: [],
    config_version: 1,
    authority_epoch: 1,
    issued_at: at(NOW),
    valid_from: at(NOW),
    expires_at: at(NOW + 24 * HOUR_MS),
    refresh_after: at(NOW + 12 * HOUR_MS),
    signer_key_id: signers[0].record.key_id,
    signature_algorithm: signers[0].record.algorithm,
    content_hash: digestOf(bytes),
    ...(signers.length === 1 || header["scope_type"] === "trust_bundle"
      ? {}
      : { co_signer_key_ids: signers.slice(1).map(({ record }) => record.key_id) }),
  };
  return signFrame(SNAPSHOT_DOMAIN, { ...complete, ...header }, bytes, signers);
}

export const bundleFrame = (
  keys: Keys,
  wish: Partial<SnapshotWish> & { readonly bundle?: TrustBundle } = {},
): Buffer =>
  snapshotFrame({
    content: wish.bundle ?? bundleOf(keys),
    signers: [keys.roots[0], keys.roots[1]],
    ...wish,
    header: {
      scope_type: "trust_bundle",
      subject_node_id: "shared",
      roles: [],
      expires_at: at(NOW + 1000 * HOUR_MS),
      ...wish.header,
    },
  });

export const upgrading = (changes: Partial<Extract<Assignment, { kind: "upgrading" }>> = {}): Assignment => ({
  kind: "upgrading",
  chain_profile_id: PROFILE,
  rollout_id: ROLLOUT,
  intent_digest: null,
  current: fingerprint("v1"),
  target: fingerprint("v2"),
  ...changes,
});

export const assignmentFrame = (keys: Keys, wish: Partial<SnapshotWish> = {}): Buffer =>
  snapshotFrame({ content: { assignments: [upgrading()] }, signers: [keys.online], ...wish });

export const contextOf = (keys: Keys, changes: Partial<SnapshotContext> = {}): SnapshotContext => ({
  clusterId: CLUSTER,
  nodeId: NODE,
  roles: ["egress_service"],
  organizationIds: [],
  root: bundleOf(keys).root,
  bundle: bundleOf(keys),
  epoch: 1,
  accepted: () => null,
  time: { local: NOW, effective: NOW },
  ...changes,
});
