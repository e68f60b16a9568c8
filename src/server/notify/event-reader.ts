/**
 * Reads the events table from where this reader was, in order, and never past what it has dealt with.
 *
 * 1. The cursor moves in the transaction that deals with the events: a crash in between reads them again, never less.
 * 2. One replica reads for a reader at a time: whoever finds the cursor's row locked goes.
 * 3. No event appears behind the cursor: `appendEvents` gives ids under a lock that is held until the commit is
 *    visible, so a slow transaction's event is the newest one or not there yet, and no later id is before it.
 * 4. A reader that is new begins at the newest event: the past was told when it was the present, or nobody asked.
 */
import type { StoredEvent } from "../../core/notify/notifications.ts";
import type { Database, Transaction } from "../db/database.ts";

export type DealWith = (tx: Transaction, events: readonly StoredEvent[]) => Promise<void>;

export async function registerReader(db: Database, reader: string): Promise<void> {
  await db`
    insert into event_cursors (reader, event_id) select ${reader}, coalesce(max(id), 0) from events
    on conflict do nothing`; // (4)
}

/** How many events were read; null when another replica reads. */
export async function readEvents(
  db: Database,
  reader: string,
  rowsMax: number,
  dealWith: DealWith,
): Promise<number | null> {
  return db.begin(async (tx) => {
    const [cursor] = await tx<{ event_id: number }[]>`
      select event_id from event_cursors where reader = ${reader} for update skip locked`;
    if (cursor === undefined) return null; // (2)
    const rows = await tx<(Omit<StoredEvent, "at"> & { at: Date })[]>`
      select id, at, kind, rollout_id, node_id, data from events
      where id > ${cursor.event_id} order by id limit ${rowsMax}`; // (3)
    const last = rows.at(-1);
    if (last === undefined) return 0;
    await dealWith(
      tx,
      rows.map((row) => ({ ...row, at: row.at.getTime() })),
    );
    await tx`update event_cursors set event_id = ${last.id} where reader = ${reader}`; // (1)
    return rows.length;
  });
}
