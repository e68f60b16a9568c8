/** Makes signed snapshots; verify-snapshot.ts takes them apart. */
import type { ClusterId, Digest, NodeId, SnapshotId } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import { LIMITS } from "../core/limits.ts";
import {
  type SHARED_SUBJECT,
  SNAPSHOT_SCHEMA_VERSION,
  type SnapshotHeader,
} from "../core/snapshot/envelope.ts";
import { SCOPES, type NodeRole, type ScopeType } from "../core/snapshot/scopes.ts";
import { signFrame, signHeaders } from "./frame.ts";
import type { Signer } from "./keys.ts";
import { isSealed, sealContent, type SealedContent } from "./sealed-content.ts";
import { SNAPSHOT_DOMAIN } from "./snapshot-signer.ts";

/** Everything in a header that is not the content. */
export interface EnvelopeDraft {
  readonly snapshotId: SnapshotId;
  readonly clusterId: ClusterId;
  readonly subject: NodeId | typeof SHARED_SUBJECT;
  readonly scope: ScopeType;
  readonly scopeIds?: readonly string[];
  readonly roles: readonly NodeRole[];
  readonly organizationIds?: readonly string[];
  readonly version: number;
  readonly epoch: number;
  readonly issuedAt: number;
  readonly lifetimeMs: number;
}

export interface SnapshotDraft extends EnvelopeDraft {
  /** Sealed already, or sealed here; see sealed-content.ts for what that refuses. */
  readonly content: Json | SealedContent;
}

export interface SignedSnapshot {
  readonly header: SnapshotHeader;
  readonly frame: Buffer;
}

export type Signers = readonly [Signer, ...Signer[]];

/** The first signer is the envelope's; the rest are co-signatures. */
export function signSnapshot(draft: SnapshotDraft, signers: Signers): SignedSnapshot {
  const content = isSealed(draft.content) ? draft.content : sealContent(draft.scope, draft.content);
  const scopeIds = draft.scopeIds ?? content.scope_ids ?? [];
  const header = envelopeOf({ ...draft, scopeIds }, content.content_hash, signers);
  return { header, frame: signFrame(SNAPSHOT_DOMAIN, header, content.bytes, signers) };
}

/** In the order of the headers. Their contents, which many nodes may share, are kept apart. */
export const signSnapshotHeaders = (headers: readonly Buffer[], signers: Signers): Buffer[] =>
  signHeaders(SNAPSHOT_DOMAIN, headers, signers);

/** In the order of the canonical form: what stands so is printed many times faster, and a rollout prints thousands. */
export function envelopeOf(draft: EnvelopeDraft, contentHash: Digest, signers: Signers): SnapshotHeader {
  const at = (ms: number) => new Date(ms).toISOString();
  return {
    authority_epoch: draft.epoch,
    cluster_id: draft.clusterId,
    ...coSignersOf(draft.scope, signers),
    config_version: draft.version,
    content_hash: contentHash,
    expires_at: at(draft.issuedAt + draft.lifetimeMs),
    issued_at: at(draft.issuedAt),
    organization_ids: [...(draft.organizationIds ?? [])],
    refresh_after: at(draft.issuedAt + draft.lifetimeMs / 2),
    roles: [...draft.roles],
    schema_version: SNAPSHOT_SCHEMA_VERSION,
    scope_ids: [...(draft.scopeIds ?? [])],
    scope_type: draft.scope,
    signature_algorithm: signers[0].record.algorithm,
    signer_key_id: signers[0].record.key_id,
    snapshot_id: draft.snapshotId,
    subject_node_id: draft.subject,
    valid_from: at(draft.issuedAt - LIMITS.clockSkewMs),
  };
}

/** Root keys are not named: they sign a finished header one after the other, on machines of their own. */
function coSignersOf(scope: ScopeType, [, ...others]: Signers): Pick<SnapshotHeader, "co_signer_key_ids"> {
  if (others.length === 0 || SCOPES[scope].signer === "root") return {};
  return { co_signer_key_ids: others.map(({ record }) => record.key_id) };
}
