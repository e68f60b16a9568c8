/**
 * Tells a rollout's object that rows have changed.
 *
 * 1. Rows are committed first; a nudge carries nothing but the id.
 * 2. Nudges of the same generation are one (see rollout/advance.ts, invariant 1): a flood costs few steps.
 * 3. A nudge that is lost is found by the sweep: failing to send is logged, never raised.
 */
import type { RolloutId } from "../../core/ids.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import type { Engine } from "./engine.ts";
import { ROLLOUT_OBJECT } from "./objects.ts";

export type Nudge = (id: RolloutId) => void;

const COALESCE_MS = 25;

export function createNudge(db: Database, engine: Engine, log: Logger): Nudge {
  const waiting = new Set<RolloutId>();

  async function send(id: RolloutId): Promise<void> {
    waiting.delete(id);
    try {
      const [row] = await db<{ generation: number }[]>`select generation from rollouts where id = ${id}`;
      if (row === undefined) return;
      const idempotencyKey = `nudge:${id}:${row.generation}`;
      await engine.send(ROLLOUT_OBJECT, id, "advance", {}, { delayMs: COALESCE_MS, idempotencyKey });
    } catch (error) {
      log.warn("a nudge was not sent; the sweep will find it", { rollout_id: id, error: String(error) });
    }
  }

  return (id) => {
    if (waiting.has(id)) return;
    waiting.add(id);
    setTimeout(() => void send(id), COALESCE_MS);
  };
}
