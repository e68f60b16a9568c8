/** What the pages about groups, incidents and webhooks read. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { isGroupActive } from "../../core/group/states.ts";
import { GroupList, GroupView } from "../../core/protocol/group-api.ts";
import { DeliveryList, IncidentList, IncidentView, WebhookList } from "../../core/protocol/incident-api.ts";
import { EventList } from "../../core/protocol/operator-api.ts";
import { request } from "./http.ts";
import { KEYS } from "./queries.ts";

/** Beside the events, for the case that a proxy holds them back. */
const POLL_MS = 10_000;
const PAGE = 50;
/** Beyond this the badge says so instead of counting. */
export const OPEN_INCIDENTS_COUNTED_MAX = 99;

const pagePath = (path: string, cursor: string | null): string =>
  `${path}${path.includes("?") ? "&" : "?"}limit=${PAGE}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;

export const groupsQuery = infiniteQueryOptions({
  queryKey: [...KEYS.groups, "all"],
  queryFn: ({ signal, pageParam }) => request(GroupList, pagePath("/rollout-groups", pageParam), { signal }),
  initialPageParam: null as string | null,
  getNextPageParam: (last) => last.next_cursor,
});

export const groupQuery = (id: string) =>
  queryOptions({
    queryKey: KEYS.group(id),
    queryFn: ({ signal }) => request(GroupView, `/rollout-groups/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isGroupActive(state.data.status) ? POLL_MS : false,
  });

export const incidentsQuery = (status: string | null) =>
  infiniteQueryOptions({
    queryKey: [...KEYS.incidents, "all", status],
    queryFn: ({ signal, pageParam }) =>
      request(
        IncidentList,
        pagePath(status === null ? "/incidents" : `/incidents?status=${status}`, pageParam),
        {
          signal,
        },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });

/** For the badge: how many wait for somebody. */
export const openIncidentsQuery = queryOptions({
  queryKey: [...KEYS.incidents, "open"],
  queryFn: async ({ signal }) => {
    const path = `/incidents?status=open&limit=${OPEN_INCIDENTS_COUNTED_MAX + 1}`;
    return (await request(IncidentList, path, { signal })).incidents.length;
  },
  refetchInterval: POLL_MS,
});

export const incidentQuery = (id: string) =>
  queryOptions({
    queryKey: KEYS.incident(id),
    queryFn: ({ signal }) => request(IncidentView, `/incidents/${encodeURIComponent(id)}`, { signal }),
  });

export const webhooksQuery = queryOptions({
  queryKey: KEYS.webhooks,
  queryFn: ({ signal }) => request(WebhookList, "/webhooks", { signal }),
});

export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: KEYS.deliveries(id),
    queryFn: ({ signal }) =>
      request(DeliveryList, pagePath(`/webhooks/${encodeURIComponent(id)}/deliveries`, null), { signal }),
    refetchInterval: POLL_MS / 2,
  });

/** Two hundred events are more than a dozen attempts. */
const nodeEventsPath = (id: string): string => `/nodes/${encodeURIComponent(id)}/events?limit=200`;

export const nodeEventsQuery = (id: string) =>
  queryOptions({
    queryKey: KEYS.nodeEvents(id),
    queryFn: ({ signal }) => request(EventList, nodeEventsPath(id), { signal }),
  });

/**
 * Of one rollout, however long it is past. `place` says where the node is: when it changes the events are read again,
 * and the ones from before stay in view meanwhile.
 */
export const nodeEventsInQuery = (rolloutId: string, id: string, place: string) =>
  queryOptions({
    queryKey: [...KEYS.nodeEvents(id), rolloutId, place],
    queryFn: ({ signal }) =>
      request(EventList, `${nodeEventsPath(id)}&rollout_id=${encodeURIComponent(rolloutId)}`, { signal }),
    placeholderData: keepPreviousData,
  });
