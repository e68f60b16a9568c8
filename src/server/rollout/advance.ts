/**
 * One step of one rollout: raise the generation, then read, decide and commit in one transaction.
 *
 * 1. The generation is committed before any row is read: a nudge sent for rows written after that read carries
 *    the new generation and is not swallowed as a duplicate of the one that caused this step.
 * 2. Doing it twice does no harm: what was consumed is not read again.
 */
import type { RolloutId } from "../../core/ids.ts";
import type { GroupId } from "../../core/protocol/group-api.ts";
import { decideRollout } from "../../core/rollout/decide.ts";
import { isActive, type RolloutStatus } from "../../core/rollout/states.ts";
import type { Database } from "../db/database.ts";
import type { CommittedStep } from "../metrics/rollout-metrics.ts";
import type { Authority } from "../snapshots/authority.ts";
import { commitDecision, isNewsForGroup, type Committed } from "./commit.ts";
import { loadRollout } from "./load.ts";
import { packParcels, type HandOver } from "./parcel.ts";

export interface Advanced {
  readonly status: RolloutStatus;
  readonly wakeAt: number | null;
  readonly now: number;
}

export interface AdvanceDeps {
  readonly db: Database;
  readonly authority: Authority;
  readonly onCommitted: (step: CommittedStep) => void;
  /** A component has moved. */
  readonly nudgeGroup: (id: GroupId) => void;
  /** To the nodes that wait at this replica; without it they are told as all others are. */
  readonly handOver?: HandOver;
}

export async function advanceRollout(deps: AdvanceDeps, id: RolloutId): Promise<Advanced | null> {
  const { db, authority } = deps;
  const [raised] = await db`update rollouts set generation = generation + 1 where id = ${id} returning id`;
  if (raised === undefined) return null;
  const step = await db.begin(async (tx): Promise<(CommittedStep & Moved) | null> => {
    const loaded = await loadRollout(tx, id);
    if (loaded === null) return null;
    const { rows, now, chain, strategy, startedAt } = loaded;
    authority.clock?.check(now); // the step's rows carry it, and what it signs
    const decision = decideRollout(rows, now);
    const committed = await commitDecision(tx, authority, loaded, decision, now, deps.handOver?.from);
    const wasActive = isActive(rows.rollout.status);
    const { groupId } = loaded;
    return { chain, strategy, startedAt, wasActive, batch: rows.batch, decision, now, groupId, ...committed };
  });
  if (step === null) return null;
  deps.handOver?.deliver(packParcels(step.parcels));
  deps.onCommitted(step);
  if (step.groupId !== null && isNewsForGroup(step.decision)) deps.nudgeGroup(step.groupId);
  return { status: step.decision.rollout.status, wakeAt: step.wakeAt, now: step.now };
}

interface Moved extends Committed {
  readonly groupId: GroupId | null;
}
