/**
 * What operators declare, and what snapshots are compiled from: one table of resources, each with the schema of its spec.
 * Routes, the CLI's checks and the server's tables are made from it.
 *
 * 1. A resource is named; what it refers to, it refers to by name.
 * 2. Every string has a type, as in the snapshots that it ends up in (SNAP-5).
 */
import { z } from "zod";
import { Name, ProfileId } from "../ids.ts";
import {
  ClientEntryBody,
  DegradedBody,
  QosBody,
  RouteBody,
  SessionsBody,
  TokenTrustBody,
} from "../snapshot/contents.ts";
import { NodeRole, ScopeType } from "../snapshot/scopes.ts";
import { NodeName } from "./node-name.ts";
import { EndpointUrl, FreeText, HostPort, ResourceRef, SecretRef } from "../snapshot/typed-text.ts";

const distinct = <T extends z.ZodType<string>>(item: T, max: number) =>
  z
    .array(item)
    .max(max)
    .refine((items) => new Set(items).size === items.length, "something stands twice")
    .default([]);

const OrganizationSpec = z.strictObject({});

/** None named: for every node. */
const readers = { organization: Name.nullable().default(null), roles: distinct(NodeRole, 5) };
const PolicySpec = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("route"), ...readers, body: RouteBody }),
  z.strictObject({ kind: z.literal("qos"), ...readers, body: QosBody }),
  z.strictObject({ kind: z.literal("degraded_mode"), ...readers, body: DegradedBody }),
  z.strictObject({ kind: z.literal("client_entry"), ...readers, body: ClientEntryBody }),
  z.strictObject({ kind: z.literal("token_trust"), ...readers, body: TokenTrustBody }),
  z.strictObject({ kind: z.literal("sessions"), ...readers, body: SessionsBody }),
]);

const SecretRefSpec = z.strictObject({ organization: Name, ref: SecretRef });

const ServiceSpec = z.strictObject({
  organization: Name,
  chain_profile_id: ProfileId.nullable().default(null),
  resources: distinct(ResourceRef, 100),
  connectors: distinct(ResourceRef, 100),
  /** Names of secret-refs of the same organization. */
  secret_refs: distinct(Name, 100),
  /** Where ingress nodes find it; null: not reachable from outside. */
  address: HostPort.nullable().default(null),
  description: FreeText.nullable().default(null),
  nodes: distinct(NodeName, 10_000),
});

const StorageEndpointSpec = z.strictObject({
  organization: Name.nullable().default(null),
  url: EndpointUrl,
  shard: Name.nullable().default(null),
  replicas: z.int().min(1).max(100).default(1),
  /** The snapshot families that its shard keeps; none named: every family. */
  families: distinct(ScopeType, 9),
});

export const RESOURCES = {
  organization: { plural: "organizations", spec: OrganizationSpec },
  policy: { plural: "policies", spec: PolicySpec },
  "secret-ref": { plural: "secret-refs", spec: SecretRefSpec },
  service: { plural: "services", spec: ServiceSpec },
  "storage-endpoint": { plural: "storage-endpoints", spec: StorageEndpointSpec },
} as const satisfies Record<string, { readonly plural: string; readonly spec: z.ZodType }>;

export type ModelKind = keyof typeof RESOURCES;
export const MODEL_KINDS = Object.keys(RESOURCES) as [ModelKind, ...ModelKind[]];
export type SpecOf<K extends ModelKind> = z.infer<(typeof RESOURCES)[K]["spec"]>;

/** What a node is, beside what it was enrolled as; set by operators, never claimed by the node. */
export const Membership = z.strictObject({
  roles: distinct(NodeRole, 5),
  organizations: distinct(Name, 1000),
  peer_address: HostPort.nullable().default(null),
});
export type Membership = z.infer<typeof Membership>;
