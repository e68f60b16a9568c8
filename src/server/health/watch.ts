/** The row that says since when the control plane is available without a gap. Times are the database's own. */
import { nextWatch, type Watch } from "../../core/health/watch.ts";
import type { Transaction } from "../db/database.ts";

export async function readWatch(tx: Transaction): Promise<Watch | null> {
  const [row] = await tx<{ last_look_at: Date; hearing_since: Date }[]>`
    select last_look_at, hearing_since from health_watch`;
  if (row === undefined) return null;
  return { lastLookAt: row.last_look_at.getTime(), hearingSince: row.hearing_since.getTime() };
}

export async function keepWatch(tx: Transaction, now: number): Promise<Watch> {
  const watch = nextWatch(await readWatch(tx), now);
  const [lookedAt, hearingSince] = [new Date(watch.lastLookAt), new Date(watch.hearingSince)];
  await tx`
    insert into health_watch (last_look_at, hearing_since) values (${lookedAt}, ${hearingSince})
    on conflict (only_one) do update set last_look_at = excluded.last_look_at, hearing_since = excluded.hearing_since`;
  return watch;
}
