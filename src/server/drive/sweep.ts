/**
 * Finds what no nudge reached: rollouts and groups with unread signals or reports, groups whose components have moved,
 * wake-ups whose time has passed, and nodes that were given up and say by heartbeat what they run. Runs on the replica that holds the lock; a second of delay here is the price of a
 * lost nudge, never a lost rollout.
 */
import { sleep } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { measuredRollouts } from "../rollout/unsettled.ts";
import type { Engine } from "./engine.ts";
import { GROUP_OBJECT, ROLLOUT_OBJECT } from "./objects.ts";
import { createQueued } from "./queued.ts";
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
  const isQueued = createQueued();

  async function loop(): Promise<void> {
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      try {
        await registration.ensure();
        for (const overdue of await findOverdue(db)) {
          if (!isQueued(overdue, turn)) await engine.send(overdue.object, overdue.id, "advance", {});
        }
      } catch (error) {
        if (!stopping.signal.aborted) log.warn("sweep failed, retrying", { error: String(error) });
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

export interface Overdue {
  readonly object: string;
  readonly id: string;
  readonly generation: number;
}

export async function findOverdue(db: Database): Promise<Overdue[]> {
  return db.begin(async (tx) => {
    const [lock] = await tx<{ held: boolean }[]>`select pg_try_advisory_xact_lock(${LOCKS.sweep}) as held`;
    if (!lock!.held) return [];
    const grace = tx`now() - make_interval(secs => ${GRACE_SECONDS})`;
    const rows = await tx<Overdue[]>`
      select ${ROLLOUT_OBJECT} as object, id, generation from rollouts where id in (
        select rollout_id from rollout_signals where consumed_at is null and created_at < ${grace}
        union select rollout_id from upgrade_reports where consumed_at is null and created_at < ${grace}
        union select id from rollouts where wake_at is not null and wake_at < ${grace}
        union ${measuredRollouts(tx)})
      union all select ${GROUP_OBJECT}, id, generation from rollout_groups where id in (
        select group_id from group_signals where consumed_at is null and created_at < ${grace}
        union select id from rollout_groups where wake_at is not null and wake_at < ${grace}
        union select g.id from rollout_groups g
          where g.status in ('running', 'paused', 'rolling_back', 'pending') and g.seen_revision <> (
            select coalesce(sum(r.revision), 0) from rollouts r where r.group_id = g.id))`;
    return [...rows];
  });
}
