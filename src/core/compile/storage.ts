/** Where snapshots are kept besides the control plane, and by whom which part of them. */
import type { Json } from "../json.ts";
import { ScopeType } from "../snapshot/scopes.ts";
import type { NodeState, StorageEndpointRow } from "./rows.ts";
import { compare, sorted, sortedById } from "./sorted.ts";
import { isFor, isRevoked } from "./visible.ts";

const visible = (state: NodeState): StorageEndpointRow[] =>
  sortedById(
    state.cluster.storageEndpoints.filter(
      ({ id, organizationId }) => isFor(state, organizationId) && !isRevoked(state, "storage_endpoint", id),
    ),
  );

export const storageEndpoints = (state: NodeState): Json =>
  visible(state).map(({ id, name, organizationId, url }) => ({
    endpoint_id: id,
    name,
    organization_id: organizationId,
    url,
  }));

/** Several endpoints may keep one shard: it has as many replicas as the most careful of them asks for. */
export function shards(state: NodeState): Json {
  const found = new Map<string, { shard: string; organization_id: string | null; replicas: number }>();
  for (const { shard, organizationId, replicas } of visible(state)) {
    if (shard === null) continue;
    const key = `${shard} ${organizationId ?? ""}`;
    const most = Math.max(replicas, found.get(key)?.replicas ?? 0);
    found.set(key, { shard, organization_id: organizationId, replicas: most });
  }
  return [...found].toSorted(([a], [b]) => compare(a, b)).map(([, shard]) => shard);
}

/** Of the shards that the node keeps; a node that keeps none is allowed no family. */
export function snapshotFamilies(state: NodeState): Json {
  const kept = visible(state).filter(({ shard }) => shard !== null);
  const families = kept.flatMap(({ families }) => (families.length === 0 ? ScopeType.options : families));
  return sorted([...new Set(families)]);
}
