/** What the compiler reads: the rows of the model, plain. The server loads them, a test makes them up. */
import type { ClusterId, Digest, NodeId, ProfileId, RolloutId } from "../ids.ts";
import type { Json } from "../json.ts";
import type { Revocation } from "../snapshot/revocation.ts";
import type { NodeRole, ScopeType } from "../snapshot/scopes.ts";

export const POLICY_KINDS = [
  "route",
  "qos",
  "degraded_mode",
  "client_entry",
  "token_trust",
  "sessions",
] as const;
export type PolicyKind = (typeof POLICY_KINDS)[number];

export interface PolicyRow {
  readonly id: string;
  readonly kind: PolicyKind;
  readonly name: string;
  /** Null: for every organization. */
  readonly organizationId: string | null;
  /** Empty: for every role. */
  readonly roles: readonly NodeRole[];
  readonly body: { readonly [field: string]: Json };
}

export interface ServiceRow {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly chainProfileId: ProfileId | null;
  readonly resources: readonly string[];
  readonly connectors: readonly string[];
  /** secret:// references, never a secret. */
  readonly secretRefs: readonly string[];
  readonly description: string | null;
}

export interface ServiceEndpointRow {
  readonly id: string;
  readonly organizationId: string;
  readonly address: string;
}

export interface StorageEndpointRow {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string | null;
  readonly url: string;
  readonly shard: string | null;
  readonly replicas: number;
  /** Of the snapshots that its shard holds; empty: every family. */
  readonly families: readonly ScopeType[];
}

export interface PeerRow {
  readonly id: NodeId;
  readonly address: string;
  readonly roles: readonly NodeRole[];
  readonly organizationIds: readonly string[];
}

export interface AssignmentRow {
  readonly chainProfileId: ProfileId;
  readonly kind: "upgrading" | "settled";
  readonly currentFp: Digest | null;
  readonly targetFp: Digest;
  readonly rollbackFp: Digest | null;
  readonly intentDigest: Digest | null;
  readonly rolloutId: RolloutId;
}

/** What all nodes have in common. May hold more than a node should see: the compiler takes what is for it. */
export interface ClusterState {
  readonly clusterId: ClusterId;
  readonly name: string;
  readonly refreshEndpoints: readonly string[];
  readonly policies: readonly PolicyRow[];
  readonly serviceEndpoints: readonly ServiceEndpointRow[];
  readonly storageEndpoints: readonly StorageEndpointRow[];
  /** Enrolled, not revoked, with an address. */
  readonly peers: readonly PeerRow[];
}

export interface NodeState {
  readonly cluster: ClusterState;
  readonly node: {
    readonly id: NodeId;
    readonly roles: readonly NodeRole[];
    readonly organizationIds: readonly string[];
  };
  /** Assigned to this node. */
  readonly services: readonly ServiceRow[];
  readonly assignments: readonly AssignmentRow[];
  /** Of this node and of everyone. */
  readonly revoked: readonly Revocation[];
}
