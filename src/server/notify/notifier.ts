/**
 * Turns events into deliveries, one for each webhook that asked for their kind.
 *
 * 1. Deliveries are written with the cursor's move: an event is never lost, and never put down twice for a webhook.
 */
import { notificationOf, type StoredEvent } from "../../core/notify/notifications.ts";
import type { Notification } from "../../core/protocol/incident-api.ts";
import type { Logger } from "../../host/log.ts";
import type { Database, Transaction } from "../db/database.ts";
import { EVENTS_CHANNEL } from "../events/append.ts";
import { repeat } from "../repeat.ts";
import { DELIVERIES_CHANNEL } from "./deliveries.ts";
import { readEvents, registerReader } from "./event-reader.ts";
import {
  incidentIdOf,
  incidentSummaries,
  rolloutSummaries,
  type Summaries,
  type Summary,
} from "./summaries.ts";

export const WEBHOOK_READER = "webhooks";
const PAGE_ROWS = 500;
const LOOK_MS = 2_000;

export async function startNotifier(db: Database, log: Logger): Promise<{ stop(): Promise<void> }> {
  await registerReader(db, WEBHOOK_READER);
  const reading = repeat("reading events for webhooks", LOOK_MS, log, async () => {
    const read = await readNotifications(db);
    return read === PAGE_ROWS ? 0 : LOOK_MS;
  });
  const listener = await db.listen(EVENTS_CHANNEL, reading.wake, reading.wake);
  return {
    async stop() {
      await reading.stop();
      await listener.unlisten();
    },
  };
}

export const readNotifications = (db: Database): Promise<number | null> =>
  readEvents(db, WEBHOOK_READER, PAGE_ROWS, putDown);

interface Told {
  readonly event: StoredEvent;
  readonly type: Notification;
}

async function putDown(tx: Transaction, events: readonly StoredEvent[]): Promise<void> {
  const told = events.flatMap((event): Told[] => {
    const type = notificationOf(event);
    return type === null ? [] : [{ event, type }];
  });
  if (told.length === 0) return;
  const rollouts = await rolloutSummaries(tx, idsOf(told.map(({ event }) => event.rollout_id)));
  const incidents = await incidentSummaries(tx, idsOf(told.map(({ event }) => incidentIdOf(event))));
  const rows = told.map(({ event, type }) => ({
    event_id: event.id,
    kind: type,
    body: {
      type,
      timestamp: new Date(event.at).toISOString(),
      data: dataOf(event, rollouts, incidents),
    },
  }));
  const put = await tx`
    insert into webhook_deliveries (id, webhook_id, event_id, kind, body)
    select gen_random_uuid(), w.id, t.event_id, t.kind, t.body
    from jsonb_to_recordset(${tx.json(rows)}) as t(event_id bigint, kind text, body jsonb)
    join webhooks w on w.enabled and t.kind = any(w.events)
    on conflict (webhook_id, event_id, kind) do nothing returning id`; // (1)
  if (put.length > 0) await tx`select pg_notify(${DELIVERIES_CHANNEL}, '')`;
}

const idsOf = (ids: readonly (string | null)[]): string[] => [...new Set(ids.filter((id) => id !== null))];

/** Status and reason are the event's own: the rollout may have moved on since. */
function dataOf(event: StoredEvent, rollouts: Summaries, incidents: Summaries): Summary {
  const rollout = event.rollout_id === null ? undefined : rollouts.get(event.rollout_id);
  const incident = incidents.get(incidentIdOf(event) ?? "");
  const moved = event.kind === "rollout.status" ? { status: event.data["to"], why: event.data["why"] } : {};
  return {
    event_id: event.id,
    ...(rollout === undefined ? {} : { rollout: { ...rollout, ...(moved as Summary) } }),
    ...(incident === undefined ? {} : { incident }),
  };
}
