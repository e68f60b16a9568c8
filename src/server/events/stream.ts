/**
 * Events as they happen, from the table: a reader that was away asks for what came after the last one it saw.
 *
 * 1. A reader's right is asked for before each page. What takes it away is an event as well and wakes every reader, so
 *    a revoked key's stream ends at once and without another event.
 */
import { EventView } from "../../core/protocol/operator-api.ts";
import type { RolloutId } from "../../core/ids.ts";
import type { Database } from "../db/database.ts";
import { EVENTS_CHANNEL } from "./append.ts";

const PAGE_ROWS = 500;
/** A notification can be lost with its connection; the table is looked at this often in any case. */
const LOOK_AGAIN_MS = 5_000;

export interface EventFilter {
  readonly rolloutId?: RolloutId;
  readonly after: number | "live";
}

export interface EventStream {
  subscribe(
    filter: EventFilter,
    signal: AbortSignal,
    isAllowed?: () => Promise<boolean>,
  ): AsyncIterable<EventView>;
  close(): Promise<void>;
}

export async function openEventStream(db: Database): Promise<EventStream> {
  const waiting = new Set<() => void>();
  const wakeAll = () => {
    for (const wake of waiting) wake();
    waiting.clear();
  };
  const listener = await db.listen(EVENTS_CHANNEL, wakeAll, wakeAll);

  function changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, LOOK_AGAIN_MS);
      function done() {
        clearTimeout(timer);
        waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      }
      waiting.add(done);
      signal.addEventListener("abort", done);
      if (signal.aborted) done();
    });
  }

  async function* subscribe(
    filter: EventFilter,
    signal: AbortSignal,
    isAllowed: () => Promise<boolean> = async () => true,
  ): AsyncGenerator<EventView> {
    let last = filter.after === "live" ? await newestId(db) : filter.after;
    while (!signal.aborted) {
      const next = changed(signal);
      const page = await readPage(db, filter.rolloutId, last);
      if (!(await isAllowed())) return; // (1) after the page was read: a right that ended before its events ends it
      for (const event of page) {
        yield event;
        last = event.id;
      }
      if (page.length < PAGE_ROWS) await next;
    }
  }

  return { subscribe, close: () => listener.unlisten() };
}

async function newestId(db: Database): Promise<number> {
  const [row] = await db<{ id: number }[]>`select coalesce(max(id), 0) as id from events`;
  return row!.id;
}

async function readPage(db: Database, rolloutId: RolloutId | undefined, after: number): Promise<EventView[]> {
  const rows = await db<
    {
      id: number;
      at: Date;
      kind: string;
      rollout_id: string | null;
      group_id: string | null;
      node_id: string | null;
      actor: string | null;
      data: Record<string, unknown>;
    }[]
  >`
    select id, at, kind, rollout_id, group_id, node_id, actor, data from events
    where id > ${after} ${rolloutId === undefined ? db`` : db`and rollout_id = ${rolloutId}`}
    order by id limit ${PAGE_ROWS}`;
  return rows.map((row) => EventView.parse({ ...row, at: row.at.toISOString() }));
}
