/**
 * Follows one rollout: its events fold into the cached rows at once, and the rows are read again
 * a little later, since only they hold counters, attempts and the health window.
 *
 * 1. Events are asked for when the rows are there. A first reading that is under way cannot be asked to begin anew, and
 *    may have been made before what an event tells.
 */
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { LIMITS } from "../../../core/limits.ts";
import { setConnection } from "../../api/connection.ts";
import { openEventStream } from "../../api/event-stream.ts";
import type { FleetEvent } from "../../api/events.ts";
import { KEYS, rolloutNodesQuery, rolloutQuery, type RolloutNodes } from "../../api/queries.ts";
import { throttle } from "../../api/throttle.ts";
import { eventsSince, foldNodes, foldRollout, mayLackAny } from "./live.ts";
import { extendTimeline, type TimelineEntry } from "./timeline.ts";

const READ_ROLLOUT_MS = 500;
const READ_NODES_MS = 1_000;
/** Ten thousand nodes are twenty pages: their cells live from events, and the rows are read for the rest. */
const READ_MANY_NODES_MS = 10_000;

/** Of many nodes a few change each frame; ten pictures a second leave the page free to scroll. */
const TAKE_MANY_MS = 100;

export function useLiveRollout(id: string, hasRows: boolean): readonly TimelineEntry[] {
  const client = useQueryClient();
  const [timeline, setTimeline] = useState<readonly TimelineEntry[]>([]);
  useEffect(() => {
    if (!hasRows) return; // 1
    const readRollout = throttle(
      READ_ROLLOUT_MS,
      () => void client.invalidateQueries({ queryKey: KEYS.rollout(id) }),
    );
    const readNodes = throttle(
      READ_NODES_MS,
      () => void client.invalidateQueries({ queryKey: KEYS.rolloutNodes(id) }),
    );
    const readManyNodes = throttle(READ_MANY_NODES_MS, readNodes);

    let waiting: FleetEvent[] = [];
    const takeMany = throttle(TAKE_MANY_MS, () => {
      const events = waiting;
      waiting = [];
      take(events);
    });

    const isMany = (): boolean =>
      (client.getQueryData(rolloutNodesQuery(id).queryKey)?.items.length ?? 0) > LIMITS.listPageMax;

    function onEvents(events: readonly FleetEvent[]): void {
      if (!isMany()) return take(events);
      waiting.push(...events);
      takeMany();
    }

    function take(events: readonly FleetEvent[]): void {
      setTimeline((before) => extendTimeline(before, events));
      if (events.some(({ kind }) => kind === "incident.opened"))
        void client.invalidateQueries({ queryKey: KEYS.incidents });
      const asOf = client.getQueryData(rolloutNodesQuery(id).queryKey)?.asOf ?? 0;
      if (!mayLackAny(events, asOf)) return;
      fold(client, id, eventsSince(events, asOf));
      readRollout();
      if (isMany()) readManyNodes();
      else readNodes();
    }

    const close = openEventStream(`/rollouts/${encodeURIComponent(id)}/events`, 0, {
      onEvents,
      onState: setConnection,
    });
    return () => {
      for (const each of [readRollout, readNodes, readManyNodes, takeMany]) each.cancel();
      close();
    };
  }, [client, id, hasRows]);
  return timeline;
}

function fold(client: QueryClient, id: string, events: readonly FleetEvent[]): void {
  client.setQueryData(rolloutQuery(id).queryKey, (before) =>
    before === undefined ? before : foldRollout(before, events),
  );
  client.setQueryData(rolloutNodesQuery(id).queryKey, (before: RolloutNodes | undefined) =>
    before === undefined ? before : { ...before, items: foldNodes(before.items, events) },
  );
}
