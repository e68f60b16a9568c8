/** The rows that the compiler needs for a set of nodes and scopes, in a few statements whatever their number. */
import type { ClusterState, NodeState, PeerRow, PolicyRow, ServiceRow } from "../../core/compile/rows.ts";
import type { ClusterId, NodeId } from "../../core/ids.ts";
import type { CompiledScope } from "../../core/snapshot/roles.ts";
import type { NodeRole } from "../../core/snapshot/scopes.ts";
import type { Transaction } from "../db/database.ts";
import { loadAssignments, loadRevocations, loadServices } from "./load-own-rows.ts";

interface NodeRow {
  readonly id: NodeId;
  readonly roles: readonly NodeRole[];
  readonly organizationIds: readonly string[];
}

/** Nodes that are not enrolled, or were revoked, are left out: nothing is compiled for them. */
export async function loadStates(
  tx: Transaction,
  clusterId: ClusterId,
  nodeIds: readonly NodeId[],
  scopes: ReadonlySet<CompiledScope>,
): Promise<Map<NodeId, NodeState>> {
  const nodes = await tx<NodeRow[]>`
    select id, roles, organization_ids::text[] as "organizationIds" from node_authority
    where id = any(${nodeIds}) and present`;
  const ids = nodes.map((node) => node.id);
  const organizations = [...new Set(nodes.flatMap((node) => node.organizationIds))];
  const [cluster, services, assignments, revocations] = await Promise.all([
    loadCluster(tx, clusterId, organizations, scopes),
    scopes.has("node_runtime") ? loadServices(tx, ids) : new Map<NodeId, ServiceRow[]>(),
    scopes.has("service_assignment") ? loadAssignments(tx, ids) : new Map<NodeId, never[]>(),
    loadRevocations(tx, ids),
  ]);
  return new Map(
    nodes.map((node) => [
      node.id,
      {
        cluster,
        node,
        services: services.get(node.id) ?? [],
        assignments: assignments.get(node.id) ?? [],
        revoked: revocations.of(node.id),
      },
    ]),
  );
}

async function loadCluster(
  tx: Transaction,
  clusterId: ClusterId,
  organizations: readonly string[],
  scopes: ReadonlySet<CompiledScope>,
): Promise<ClusterState> {
  const has = (...wanted: CompiledScope[]) => wanted.some((scope) => scopes.has(scope));
  const [[cluster], policies, serviceEndpoints, storageEndpoints, peers] = await Promise.all([
    tx<{ name: string; refreshEndpoints: string[] }[]>`
      select name, refresh_endpoints as "refreshEndpoints" from clusters`,
    has("node_runtime", "route_policy", "qos_policy", "degraded_mode_policy")
      ? tx<PolicyRow[]>`
          select id, kind, name, organization_id as "organizationId", roles, body from policies
          where organization_id is null or organization_id = any(${organizations}::uuid[])`
      : [],
    has("node_runtime")
      ? tx<ClusterState["serviceEndpoints"][number][]>`
          select id, organization_id as "organizationId", address from services
          where address is not null and organization_id = any(${organizations}::uuid[])`
      : [],
    has("storage_directory")
      ? tx<ClusterState["storageEndpoints"][number][]>`
          select id, name, organization_id as "organizationId", url, shard, replicas, families from storage_endpoints
          where organization_id is null or organization_id = any(${organizations}::uuid[])`
      : [],
    has("node_bootstrap", "peer_directory") ? loadPeers(tx, has("peer_directory")) : [],
  ]);
  return { clusterId, ...cluster!, policies, serviceEndpoints, storageEndpoints, peers };
}

/** For the few peers to begin with, the mesh is enough. */
const loadPeers = (tx: Transaction, all: boolean) => tx<PeerRow[]>`
  select n.id, a.address, n.roles, n.organization_ids::text[] as "organizationIds"
  from peer_addresses a join node_authority n on n.id = a.node_id
  where n.present and (${all} or 'core_mesh' = any(n.roles))`;
