/** What the pages read, each under its key. Lists are read whole, up to a bound, since pages group and count them. */
import { infiniteQueryOptions, queryOptions, replaceEqualDeep } from "@tanstack/react-query";
import {
  NodeList,
  NodeUpgradeList,
  NodeView,
  RolloutList,
  RolloutView,
  type NodeUpgradeView,
} from "../../core/protocol/operator-api.ts";
import { LIMITS } from "../../core/limits.ts";
import { isActive } from "../../core/rollout/states.ts";
import { request, requestDated } from "./http.ts";
import { readPages, type Pages } from "./read-pages.ts";
import { whoAmI } from "./session.ts";

/** Heartbeats make no events: pages that show them ask again by themselves. */
const HEARTBEAT_POLL_MS = 10_000;
const FLEET_NODES_MAX = 4_000;
const ROLLOUT_NODES_MAX = 10_000;

export const KEYS = {
  whoami: ["whoami"],
  nodes: ["nodes"],
  node: (id: string) => ["nodes", id],
  rollouts: ["rollouts"],
  rollout: (id: string) => ["rollouts", id],
  rolloutNodes: (id: string) => ["rollout-nodes", id],
  groups: ["groups"],
  group: (id: string) => ["groups", id],
  incidents: ["incidents"],
  incident: (id: string) => ["incidents", id],
  webhooks: ["webhooks"],
  deliveries: (id: string) => ["webhooks", id, "deliveries"],
  nodeEvents: (id: string) => ["nodes", id, "events"],
} as const;

export const whoamiQuery = queryOptions({
  queryKey: KEYS.whoami,
  queryFn: ({ signal }) => whoAmI(signal),
  staleTime: 60_000,
});

export const nodesQuery = queryOptions({
  queryKey: [...KEYS.nodes, "all"],
  queryFn: ({ signal }) =>
    readPages(FLEET_NODES_MAX, async (page) => {
      const { data, asOf } = await requestDated(NodeList, `/nodes?${page}`, { signal });
      return { items: data.nodes, next: data.next_cursor, asOf };
    }),
  refetchInterval: HEARTBEAT_POLL_MS,
});

export const nodeQuery = (id: string) =>
  queryOptions({
    queryKey: KEYS.node(id),
    queryFn: ({ signal }) => request(NodeView, `/nodes/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: HEARTBEAT_POLL_MS / 2,
  });

export const rolloutsQuery = infiniteQueryOptions({
  queryKey: [...KEYS.rollouts, "all"],
  queryFn: ({ signal, pageParam }) =>
    request(
      RolloutList,
      `/rollouts?limit=50${pageParam === null ? "" : `&cursor=${encodeURIComponent(pageParam)}`}`,
      {
        signal,
      },
    ),
  initialPageParam: null as string | null,
  getNextPageParam: (last) => last.next_cursor,
});

export const rolloutQuery = (id: string) =>
  queryOptions({
    queryKey: KEYS.rollout(id),
    queryFn: ({ signal }) => request(RolloutView, `/rollouts/${encodeURIComponent(id)}`, { signal }),
    // Beside the events, for the case that a proxy holds them back.
    refetchInterval: ({ state }) =>
      state.data !== undefined && isActive(state.data.status) ? 10_000 : false,
  });

export interface RolloutNodes extends Pages<NodeUpgradeView> {
  /** By id. No event changes a name, so this stays one map while the items move. */
  readonly names: ReadonlyMap<string, string>;
}

export const rolloutNodesQuery = (id: string) =>
  queryOptions({
    queryKey: KEYS.rolloutNodes(id),
    queryFn: async ({ signal }): Promise<RolloutNodes> => {
      const pages = await readPages(ROLLOUT_NODES_MAX, async (page) => {
        const path = `/rollouts/${encodeURIComponent(id)}/nodes?${page}`;
        const { data, asOf } = await requestDated(NodeUpgradeList, path, { signal });
        return { items: data.nodes, next: data.next_cursor, asOf };
      });
      return { ...pages, names: new Map(pages.items.map((node) => [node.node_id, node.node_name])) };
    },
    // Keeps a cell from being drawn again when its row is read again unchanged; a canvas finds that out by itself.
    structuralSharing: (before, after) =>
      (after as RolloutNodes).items.length > LIMITS.listPageMax ? after : replaceEqualDeep(before, after),
  });
