/** What a node holds and may do, as the operators' API answers it. */
import { z } from "zod";
import { Digest, Instant, KeyId, NodeId } from "../ids.ts";
import { SNAPSHOT_STATES } from "../model/snapshot-state.ts";
import { SnapshotHeader, SnapshotVersion } from "../snapshot/envelope.ts";
import { NodeRole, ScopeType } from "../snapshot/scopes.ts";

const SnapshotState = z.enum(SNAPSHOT_STATES);

export const PublishedSnapshot = SnapshotVersion.extend({
  content_hash: Digest,
  issued_at: Instant,
  refresh_after: Instant,
  expires_at: Instant,
  signer_key_id: KeyId,
  /** Of the whole frame. */
  bytes: z.int(),
});
export type PublishedSnapshot = z.infer<typeof PublishedSnapshot>;

/** What the node said when it refused, and the way on. */
export const RejectionView = z.object({
  code: z.string(),
  reason: z.string(),
  at: Instant,
  /** Which of the twelve checks. */
  step: z.int().nullable(),
  check: z.string().nullable(),
  field: z.string().nullable(),
  version: SnapshotVersion.nullable(),
  remedy: z.string().nullable(),
});
export type RejectionView = z.infer<typeof RejectionView>;

/** Why the control plane itself signed nothing. */
export const CompilerRefusal = z.object({
  code: z.string(),
  reason: z.string(),
  field: z.string().nullable(),
  at: Instant,
  remedy: z.string().nullable(),
});
export type CompilerRefusal = z.infer<typeof CompilerRefusal>;

export const ScopeView = z.object({
  scope: ScopeType,
  state: SnapshotState,
  published: PublishedSnapshot.nullable(),
  /** By the node's newest heartbeat. */
  applied: SnapshotVersion.nullable(),
  /** Null where the applied version is no longer kept here. */
  applied_expires_at: Instant.nullable(),
  rejection: RejectionView.nullable(),
  refusal: CompilerRefusal.nullable(),
});
export type ScopeView = z.infer<typeof ScopeView>;

export const NodeSnapshots = z.object({
  node_id: NodeId,
  node_name: z.string(),
  roles: z.array(NodeRole),
  organizations: z.array(z.string()),
  last_heartbeat_at: Instant.nullable(),
  snapshots: z.array(ScopeView),
});
export type NodeSnapshots = z.infer<typeof NodeSnapshots>;

/** Content of any scope, as it was signed. */
export const JsonValue = z.json();

export const SnapshotDetail = z.object({
  node_id: NodeId,
  header: SnapshotHeader,
  content: JsonValue,
  /** The signed bytes as a node gets them, base64. */
  frame: z.string(),
  /** Newest first: this one and what else is kept. */
  versions: z.array(SnapshotVersion),
});
export type SnapshotDetail = z.infer<typeof SnapshotDetail>;

export const NodeAuthority = z.object({
  node_id: NodeId,
  node_name: z.string(),
  last_heartbeat_at: Instant.nullable(),
  counts: z.record(SnapshotState, z.int()),
  /** Scopes that want a look, worst first. */
  attention: z.array(
    z.object({
      scope: ScopeType,
      state: SnapshotState,
      code: z.string().nullable(),
      expires_at: Instant.nullable(),
    }),
  ),
});
export type NodeAuthority = z.infer<typeof NodeAuthority>;
export const NodeAuthorityList = z.object({
  nodes: z.array(NodeAuthority),
  next_cursor: z.string().nullable(),
});
