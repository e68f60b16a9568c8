/**
 * Rows in, one scope's content for one node out (SNAP-3).
 *
 * 1. The same rows give the same content, in whatever order they come: every list is sorted by id.
 * 2. A section is compiled only if the node's roles may hold it (SNAP-4); what a role is denied is never looked at.
 * 3. What belongs to an organization that the node is no member of is nowhere in it.
 * 4. What was revoked is left out.
 */
import type { Json } from "../json.ts";
import { mayHold, type CompiledScope, type SECTIONS } from "../snapshot/roles.ts";
import { compileAssignments } from "./assignments.ts";
import { bootstrapPeers, visiblePeers } from "./peers.ts";
import { degradedPolicy, ownedSince, policiesOf, sessionPolicy } from "./policies.ts";
import type { NodeState } from "./rows.ts";
import { compileServices, serviceEndpoints } from "./services.ts";
import { sorted } from "./sorted.ts";
import { shards, snapshotFamilies, storageEndpoints } from "./storage.ts";

type Section = (state: NodeState) => Json | undefined;
type Compilers = {
  readonly [S in CompiledScope]: { readonly [section in keyof (typeof SECTIONS)[S]]: Section };
};

const COMPILERS: Compilers = {
  node_bootstrap: {
    cluster: ({ cluster }) => ({ cluster_id: cluster.clusterId, name: cluster.name }),
    membership: ({ node }) => ({
      node_id: node.id,
      roles: sorted(node.roles),
      organization_ids: sorted(node.organizationIds),
    }),
    refresh_endpoints: ({ cluster }) => sorted(cluster.refreshEndpoints),
    bootstrap_peers: bootstrapPeers,
  },
  node_runtime: {
    services: compileServices,
    client_entry: (state) =>
      policiesOf(state, "client_entry").map(({ name, organizationId, body }) => ({
        ...body,
        name,
        organization_id: organizationId,
      })),
    token_trust: (state) =>
      policiesOf(state, "token_trust").map(({ organizationId, body }) => ({
        ...body,
        ...ownedSince(organizationId),
      })),
    service_endpoints: serviceEndpoints,
    sessions: sessionPolicy,
  },
  peer_directory: { peers: visiblePeers },
  service_assignment: { assignments: compileAssignments },
  route_policy: { routes: (state) => policiesOf(state, "route").map(named) },
  qos_policy: { classes: (state) => policiesOf(state, "qos").map(named) },
  storage_directory: { endpoints: storageEndpoints, shards, families: snapshotFamilies },
  degraded_mode_policy: { policy: degradedPolicy },
};

function named({ id, name, organizationId, body }: ReturnType<typeof policiesOf>[number]): Json {
  return { ...body, policy_id: id, name, organization_id: organizationId };
}

export function compileNode(state: NodeState, scope: CompiledScope): Json {
  const content: Record<string, Json> = {};
  for (const [section, compile] of Object.entries<Section>(COMPILERS[scope])) {
    if (!mayHold(scope, section, state.node.roles)) continue; // (2)
    const value = compile(state);
    if (value !== undefined) content[section] = value;
  }
  return content;
}
