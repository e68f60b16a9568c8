/** What each scope that the online key signs may hold: sections, each optional, every string typed (SNAP-2, SNAP-5). */
import { z } from "zod";
import { DegradedAction } from "../degraded/actions.ts";
import { ClusterId, Digest, Name, NodeId, ProfileId, Uuid } from "../ids.ts";
import { NodeRole, ScopeType } from "./scopes.ts";
import { Cidr, EndpointUrl, FreeText, HostPort, ResourceRef, SecretRef } from "./typed-text.ts";

const OrganizationId = Uuid;
const Milliseconds = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
/** What belongs to one organization says so: a node drops the whole snapshot when it is not a member. */
const owned = { organization_id: OrganizationId.nullable() };
/** As `owned`, in sections that earlier servers signed without it. Absent and null mean the same: of no organization. */
const ownedSince = { organization_id: OrganizationId.nullable().optional() };

const Peer = z.strictObject({ node_id: NodeId, address: HostPort, roles: z.array(NodeRole).max(5) });

export const NodeBootstrapContent = z.strictObject({
  cluster: z.strictObject({ cluster_id: ClusterId, name: Name }).optional(),
  membership: z
    .strictObject({
      node_id: NodeId,
      roles: z.array(NodeRole).max(5),
      organization_ids: z.array(OrganizationId).max(1000),
    })
    .optional(),
  refresh_endpoints: z.array(EndpointUrl).max(16).optional(),
  bootstrap_peers: z.array(Peer).max(8).optional(),
});
export type NodeBootstrapContent = z.infer<typeof NodeBootstrapContent>;

const ServiceRef = z.strictObject({
  service_id: Uuid,
  name: Name,
  ...owned,
  chain_profile_id: ProfileId.nullable(),
  resources: z.array(ResourceRef).max(100),
  connectors: z.array(ResourceRef).max(100),
  /** Not `secrets`: a field of that name is refused wherever it stands. */
  secret_refs: z.array(SecretRef).max(100),
  description: FreeText.optional(),
});

export const ClientEntryBody = z.strictObject({ cidrs: z.array(Cidr).max(100) });
export const TokenTrustBody = z.strictObject({ issuer: EndpointUrl, jwks_digest: Digest });
export const SessionsBody = z.strictObject({
  session_ttl_ms: Milliseconds,
  tunnels_max: z.int().min(0).max(1000),
});

export const NodeRuntimeContent = z.strictObject({
  services: z.array(ServiceRef).max(1000).optional(),
  client_entry: z
    .array(ClientEntryBody.extend({ name: Name, ...owned }))
    .max(1000)
    .optional(),
  token_trust: z.array(TokenTrustBody.extend(ownedSince)).max(100).optional(),
  service_endpoints: z
    .array(z.strictObject({ service_id: Uuid, ...owned, address: HostPort }))
    .max(1000)
    .optional(),
  sessions: SessionsBody.extend(ownedSince).optional(),
});

export const PeerDirectoryContent = z.strictObject({ peers: z.array(Peer).max(10_000).optional() });

export const RouteBody = z.strictObject({
  destinations: z.array(Cidr).min(1).max(1000),
  via: z.enum(["direct", "mesh", "egress", "drop"]),
  ttl_ms: Milliseconds,
  description: FreeText.optional(),
});
export const QosBody = z.strictObject({
  class: z.enum(["realtime", "interactive", "bulk"]),
  rate_kbit_max: z.int().min(1).max(1_000_000_000).nullable(),
  description: FreeText.optional(),
});
const named = { policy_id: Uuid, name: Name, ...owned };
export const RoutePolicyContent = z.strictObject({
  routes: z.array(RouteBody.extend(named)).max(1000).optional(),
});
export const QosPolicyContent = z.strictObject({
  classes: z.array(QosBody.extend(named)).max(1000).optional(),
});

export const StorageDirectoryContent = z.strictObject({
  endpoints: z
    .array(z.strictObject({ endpoint_id: Uuid, name: Name, ...owned, url: EndpointUrl }))
    .max(1000)
    .optional(),
  shards: z
    .array(z.strictObject({ shard: Name, ...owned, replicas: z.int().min(1).max(100) }))
    .max(1000)
    .optional(),
  families: z.array(ScopeType).max(9).optional(),
});

/** What a node may still do by itself when nobody answers; none means nothing. */
export const DegradedBody = z.strictObject({
  allowed: z.array(DegradedAction).max(6),
  offline_max_ms: Milliseconds,
  route_ttl_ms: Milliseconds,
  session_ttl_ms: Milliseconds,
  /** In a part of the fleet that is cut off from the rest: go on with what runs, or keep still. */
  when_partitioned: z.enum(["continue", "hold"]),
  /** A program that ran verified is started again also when every authority has expired, unless this says never. */
  restart_after_expiry: z.enum(["allow", "never"]).optional(),
});
export type DegradedBody = z.infer<typeof DegradedBody>;
export const DegradedPolicyContent = z.strictObject({ policy: DegradedBody.extend(named).optional() });
export type DegradedPolicyContent = z.infer<typeof DegradedPolicyContent>;
