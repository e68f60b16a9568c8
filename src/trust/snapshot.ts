/** Makes signed snapshots; verify-snapshot.ts takes them apart. */
import type { ClusterId, NodeId, SnapshotId } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import { LIMITS } from "../core/limits.ts";
import {
  type SHARED_SUBJECT,
  SNAPSHOT_SCHEMA_VERSION,
  type SnapshotHeader,
} from "../core/snapshot/envelope.ts";
import type { NodeRole, ScopeType } from "../core/snapshot/scopes.ts";
import { canonicalBytes } from "./canonical-json.ts";
import { digestOf } from "./digest.ts";
import { signFrame } from "./frame.ts";
import type { Signer } from "./keys.ts";
import { SNAPSHOT_DOMAIN } from "./snapshot-signer.ts";

export interface SnapshotDraft {
  readonly snapshotId: SnapshotId;
  readonly clusterId: ClusterId;
  readonly subject: NodeId | typeof SHARED_SUBJECT;
  readonly scope: ScopeType;
  readonly roles: readonly NodeRole[];
  readonly version: number;
  readonly epoch: number;
  readonly issuedAt: number;
  readonly lifetimeMs: number;
  readonly content: Json;
}

export interface SignedSnapshot {
  readonly header: SnapshotHeader;
  readonly frame: Buffer;
}

/** The first signer is the envelope's; the rest are co-signatures. */
export function signSnapshot(draft: SnapshotDraft, signers: readonly [Signer, ...Signer[]]): SignedSnapshot {
  const content = canonicalBytes(draft.content);
  const at = (ms: number) => new Date(ms).toISOString();
  const header: SnapshotHeader = {
    snapshot_id: draft.snapshotId,
    schema_version: SNAPSHOT_SCHEMA_VERSION,
    cluster_id: draft.clusterId,
    subject_node_id: draft.subject,
    scope_type: draft.scope,
    scope_ids: [],
    roles: [...draft.roles],
    organization_ids: [],
    config_version: draft.version,
    authority_epoch: draft.epoch,
    issued_at: at(draft.issuedAt),
    valid_from: at(draft.issuedAt - LIMITS.clockSkewMs),
    expires_at: at(draft.issuedAt + draft.lifetimeMs),
    refresh_after: at(draft.issuedAt + draft.lifetimeMs / 2),
    signer_key_id: signers[0].record.key_id,
    signature_algorithm: signers[0].record.algorithm,
    content_hash: digestOf(content),
  };
  return { header, frame: signFrame(SNAPSHOT_DOMAIN, header, content, signers) };
}
