/**
 * One seeded run: operators, servers and machines on a virtual clock. Only `decideRollout` and `decideGroup` are the
 * product's own; everything around them fails in every way that it may.
 */
import type { DecideGroup } from "../support/rollouts/group-table.ts";
import type { Decide, RolloutTable } from "../support/rollouts/rollout-table.ts";
import { T0 } from "../support/rollouts/scenes.ts";
import { createServer } from "./driver.ts";
import { playGrouped } from "./grouped.ts";
import { playNeighbours } from "./neighbours.ts";
import { randomOf } from "./random.ts";
import { playStandalone } from "./standalone.ts";
import { createTimeline } from "./timeline.ts";

const RESTARTS_WITHIN_MS = 4 * 3_600_000;
/** By the seed: the stories of all others stay as they are. */
const NEIGHBOURS_EVERY = 6;

/** The product's own parts, or broken ones to see that they are noticed. */
export interface Parts {
  readonly decide?: Decide;
  readonly decideGroup?: DecideGroup;
  readonly claims?: boolean;
}

export interface Played {
  readonly kind: "rollout" | "group" | "neighbours" | "month";
  /** Of each thing that ended, its kind and how. */
  readonly ends: readonly string[];
  /** What the last operator found waiting. */
  readonly found: string | null;
  readonly rollouts: readonly RolloutTable[];
}

export function simulate(seed: number, parts: Parts = {}): Played {
  const random = randomOf(seed);
  const time = createTimeline();
  const server = createServer(time, random);
  const world = { time, random, server };
  for (let restarts = random.below(4); restarts > 0; restarts--)
    time.after(T0 + random.below(RESTARTS_WITHIN_MS), (now) => server.restart(now));
  if (seed % NEIGHBOURS_EVERY === 0) {
    const { rollouts, found } = playNeighbours(world, parts);
    return { kind: "neighbours", ends: [`neighbours ${rollouts[0]!.rollout().status}`], found, rollouts };
  }
  if (random.chance(0.4)) {
    const { group, found } = playGrouped(world, parts);
    return { kind: "group", ends: [`group ${group.group().status}`], found, rollouts: group.components };
  }
  const { rollouts, found } = playStandalone(world, parts);
  return { kind: "rollout", ends: [`rollout ${rollouts[0]!.rollout().status}`], found, rollouts };
}
