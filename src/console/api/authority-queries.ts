/** What the authority pages read. Heartbeats make no events: both ask again by themselves. */
import { queryOptions } from "@tanstack/react-query";
import { NodeAuthorityList, NodeSnapshots } from "../../core/protocol/snapshot-api.ts";
import { request, requestDated } from "./http.ts";
import { KEYS } from "./queries.ts";
import { readPages } from "./read-pages.ts";

const POLL_MS = 5_000;
const FLEET_NODES_MAX = 4_000;

/** Under the nodes' key: what makes nodes be read again makes these be read again. */
export const authorityQuery = queryOptions({
  queryKey: [...KEYS.nodes, "authority"],
  queryFn: ({ signal }) =>
    readPages(FLEET_NODES_MAX, async (page) => {
      const { data, asOf } = await requestDated(NodeAuthorityList, `/snapshots?${page}`, { signal });
      return { items: data.nodes, next: data.next_cursor, asOf };
    }),
  refetchInterval: 2 * POLL_MS,
});

export const nodeSnapshotsQuery = (id: string) =>
  queryOptions({
    queryKey: [...KEYS.nodes, "authority", id],
    queryFn: ({ signal }) => request(NodeSnapshots, `/nodes/${encodeURIComponent(id)}/snapshots`, { signal }),
    refetchInterval: POLL_MS,
  });
