/** A node's upgrades, from its events. */
import { EventList } from "../../core/protocol/operator-api.ts";
import { attemptsOf, type UpgradeAttempt } from "../../core/upgrade/timeline.ts";
import type { Api } from "../api.ts";
import { everyPage, queryOf } from "../pages.ts";

/** An attempt is about a dozen events. */
const EVENTS_READ_MAX = 2000;

export async function readAttempts(api: Api, nodeId: string, rolloutId?: string): Promise<UpgradeAttempt[]> {
  const newestFirst = await everyPage(async (page) => {
    const path = `/api/v1/nodes/${nodeId}/events?${queryOf({ ...page, rollout_id: rolloutId })}`;
    const { events, next_cursor } = await api.get(path, EventList);
    return { items: events, next: next_cursor };
  }, EVENTS_READ_MAX);
  return attemptsOf(newestFirst.toReversed());
}
