/** One step of one group, as rollout/advance.ts does it for a rollout: raise the generation, then read, decide, commit. */
import { decideGroup } from "../../core/group/decide.ts";
import type { GroupStatus } from "../../core/group/states.ts";
import type { RolloutId } from "../../core/ids.ts";
import type { GroupId } from "../../core/protocol/group-api.ts";
import type { Database } from "../db/database.ts";
import { commitGroup } from "./commit.ts";
import { loadGroup } from "./load.ts";

export interface AdvancedGroup {
  readonly status: GroupStatus;
  readonly wakeAt: number | null;
  readonly now: number;
}

export interface AdvanceGroupDeps {
  readonly db: Database;
  readonly nudge: (id: RolloutId) => void;
}

export async function advanceGroup(
  { db, nudge }: AdvanceGroupDeps,
  id: GroupId,
): Promise<AdvancedGroup | null> {
  const [raised] =
    await db`update rollout_groups set generation = generation + 1 where id = ${id} returning id`;
  if (raised === undefined) return null;
  const step = await db.begin(async (tx) => {
    const loaded = await loadGroup(tx, id);
    if (loaded === null) return null;
    const decision = decideGroup(loaded.rows, loaded.now);
    await commitGroup(tx, loaded, decision);
    return { decision, now: loaded.now };
  });
  if (step === null) return null;
  const { decision, now } = step;
  for (const { rolloutId } of decision.componentSignals) nudge(rolloutId);
  return { status: decision.group.status, wakeAt: decision.wakeAt, now };
}
