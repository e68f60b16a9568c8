/** Several requests that really run at the same time: all of them wait for a lock of the test, and go on together. */
import { expect } from "vitest";
import type { Database, Transaction } from "../../../src/server/db/database.ts";

/** `hold` takes the lock. The requests begin under it, and it is released when each waits for it, or for another of them. */
export async function atOnce<T>(
  db: Database,
  hold: (tx: Transaction) => Promise<unknown>,
  requests: readonly (() => Promise<T>)[],
): Promise<T[]> {
  let running: Promise<T>[] = [];
  await db.begin(async (tx) => {
    await hold(tx);
    running = requests.map((request) => request());
    await expect
      .poll(
        () => db`
          select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        { timeout: 30_000 },
      )
      .toHaveLength(requests.length);
  });
  return Promise.all(running);
}
