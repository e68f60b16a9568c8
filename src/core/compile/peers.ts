/**
 * Who a node may know of (SNAP-4).
 *
 * 1. A directory also lists its reader: so all nodes with the same view share one content, and a mesh of a thousand
 *    nodes is compiled once, not a thousand times.
 * 2. The few peers to begin with are the next ones after the node's own id, in a ring: the load spreads over the mesh,
 *    and a peer that comes or goes touches only the nodes just before it.
 */
import type { Json } from "../json.ts";
import type { NodeId } from "../ids.ts";
import type { ClusterState, NodeState, PeerRow } from "./rows.ts";
import { sorted, sortedById } from "./sorted.ts";
import { isRevoked } from "./visible.ts";

export const BOOTSTRAP_PEERS = 3;

const peerOf = ({ id, address, roles }: PeerRow): Json => ({ node_id: id, address, roles: sorted(roles) });

export const visiblePeers = (state: NodeState): Json =>
  sortedById(
    state.cluster.peers.filter((peer) => sees(state, peer) && !isRevoked(state, "peer", peer.id)),
  ).map(peerOf);

function sees({ node }: NodeState, peer: PeerRow): boolean {
  const isCore = peer.roles.includes("core_mesh");
  if (node.roles.includes("core_mesh")) {
    if (isCore || peer.organizationIds.some((id) => node.organizationIds.includes(id))) return true;
  }
  return node.roles.includes("storage_config") && (isCore || peer.roles.includes("storage_config"));
}

export function bootstrapPeers(state: NodeState): Json {
  const { node, cluster } = state;
  const core = coreOf(cluster).filter((peer) => peer.id !== node.id && !isRevoked(state, "peer", peer.id));
  return sortedById(nextOf(core, node.id)).map(peerOf);
}

/** The same for every node of a batch. */
const sortedCore = new WeakMap<ClusterState, readonly PeerRow[]>();

function coreOf(cluster: ClusterState): readonly PeerRow[] {
  const known = sortedCore.get(cluster);
  const core = known ?? sortedById(cluster.peers.filter((peer) => peer.roles.includes("core_mesh")));
  sortedCore.set(cluster, core);
  return core;
}

function nextOf(ring: readonly PeerRow[], id: NodeId): PeerRow[] {
  const from = ring.findIndex((peer) => peer.id > id);
  const at = from === -1 ? 0 : from;
  return [...ring.slice(at, at + BOOTSTRAP_PEERS), ...ring.slice(0, at)].slice(0, BOOTSTRAP_PEERS); // (2)
}
