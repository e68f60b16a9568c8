/**
 * Ends transactions of servers that hang. PostgreSQL ends those that idle (`idle_in_transaction_session_timeout`), but a
 * server that stops between the two halves of a statement, having announced it and not yet asked for it, is busy to
 * PostgreSQL, and would hold its locks for ever.
 *
 * A transaction is abandoned when the database has waited this long for its client's next word.
 */
import { sleep } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import { APPLICATION_NAME, type Database } from "./database.ts";

const LOOK_EVERY_MS = 2_000;
const ABANDONED_AFTER_MS = 8_000;

export function startEndingAbandoned(db: Database, log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController();

  async function loop(): Promise<void> {
    for (;;) {
      await sleep(LOOK_EVERY_MS, stopping.signal);
      if (stopping.signal.aborted) return;
      try {
        const count = await endAbandoned(db);
        if (count > 0) log.warn("abandoned transactions ended", { count });
      } catch (error) {
        log.debug("looking for abandoned transactions failed", { error: String(error) });
      }
    }
  }

  const running = loop();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

export async function endAbandoned(db: Database, afterMs = ABANDONED_AFTER_MS): Promise<number> {
  const rows = await db`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user and application_name = ${APPLICATION_NAME}
      and pid <> pg_backend_pid() and xact_start is not null and wait_event = 'ClientRead'
      and state_change < clock_timestamp() - ${afterMs} * interval '1 millisecond'`;
  return rows.length;
}
