/**
 * Tells a rollout's or a group's object that rows have changed.
 *
 * 1. Rows are committed first; a nudge carries nothing but the id.
 * 2. Nudges of the same generation are one (see rollout/advance.ts, invariant 1): a flood costs few steps. The engine
 *    knows them by their key, and what it has taken is not sent again.
 * 3. A nudge that is lost is found by the sweep: failing to send is logged, never raised.
 */
import type { RolloutId } from "../../core/ids.ts";
import type { GroupId } from "../../core/protocol/group-api.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import type { Engine } from "./engine.ts";
import { GROUP_OBJECT, ROLLOUT_OBJECT } from "./objects.ts";

export type Nudge = (id: RolloutId) => void;
export type NudgeGroup = (id: GroupId) => void;

const COALESCE_MS = 25;
const TAKEN_MAX = 1_000;

export interface NudgeDeps {
  readonly db: Database;
  readonly engine: Engine;
  readonly log: Logger;
}

export const createNudge = (deps: NudgeDeps): Nudge =>
  coalesced(deps, ROLLOUT_OBJECT, async (id) => {
    const [row] = await deps.db<Generation[]>`select generation from rollouts where id = ${id}`;
    return row;
  });

export const createGroupNudge = (deps: NudgeDeps): NudgeGroup =>
  coalesced(deps, GROUP_OBJECT, async (id) => {
    const [row] = await deps.db<Generation[]>`select generation from rollout_groups where id = ${id}`;
    return row;
  });

interface Generation {
  readonly generation: number;
}

function coalesced<Id extends string>(
  { engine, log }: NudgeDeps,
  object: string,
  generationOf: (id: Id) => Promise<Generation | undefined>,
): (id: Id) => void {
  const waiting = new Set<Id>();
  const taken = new Map<Id, number>();

  async function send(id: Id): Promise<void> {
    waiting.delete(id);
    try {
      const row = await generationOf(id);
      if (row === undefined || taken.get(id) === row.generation) return; // (2)
      const idempotencyKey = `nudge:${id}:${row.generation}`;
      await engine.send(object, id, "advance", {}, { delayMs: COALESCE_MS, idempotencyKey });
      if (taken.size >= TAKEN_MAX) taken.clear();
      taken.set(id, row.generation);
    } catch (error) {
      log.warn("nudge not sent, left to the sweep", { object, id, error: String(error) });
    }
  }

  return (id) => {
    if (waiting.has(id)) return;
    waiting.add(id);
    setTimeout(() => void send(id), COALESCE_MS);
  };
}
