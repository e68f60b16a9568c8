/**
 * Finds what no nudge reached: rollouts with unread signals or reports, and wake-ups whose time has passed.
 * Runs on the replica that holds the lock; a second of delay here is the price of a lost nudge, never a lost rollout.
 */
import type { RolloutId } from "../../core/ids.ts";
import { sleep } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import type { Engine } from "./engine.ts";
import { ROLLOUT_OBJECT } from "./objects.ts";
import type { Registration } from "./registration.ts";

const SWEEP_INTERVAL_MS = 1_000;
/** Younger ones are still on their way by themselves. */
const GRACE_SECONDS = 1;

export function startSweep(
  db: Database,
  engine: Engine,
  registration: Registration,
  log: Logger,
): { stop(): Promise<void> } {
  const stopping = new AbortController();

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await registration.ensure();
        for (const id of await overdue(db)) await engine.send(ROLLOUT_OBJECT, id, "advance", {});
      } catch (error) {
        if (!stopping.signal.aborted) log.warn("sweep failed; it tries again", { error: String(error) });
      }
      await sleep(SWEEP_INTERVAL_MS, stopping.signal);
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

async function overdue(db: Database): Promise<RolloutId[]> {
  return db.begin(async (tx) => {
    const [lock] = await tx<{ held: boolean }[]>`select pg_try_advisory_xact_lock(${LOCKS.sweep}) as held`;
    if (!lock!.held) return [];
    const rows = await tx<{ id: RolloutId }[]>`
      select rollout_id as id from rollout_signals
        where consumed_at is null and created_at < now() - make_interval(secs => ${GRACE_SECONDS})
      union select rollout_id from upgrade_reports
        where consumed_at is null and created_at < now() - make_interval(secs => ${GRACE_SECONDS})
      union select id from rollouts
        where wake_at is not null and wake_at < now() - make_interval(secs => ${GRACE_SECONDS})`;
    return rows.map((row) => row.id);
  });
}
