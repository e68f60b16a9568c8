/** What operators want, drawn by chance: every strategy, every tier, with and without a window, a limit, a way back. */
import type { FailurePolicy } from "../../src/core/group/states.ts";
import type { GroupWish } from "../support/rollouts/group-table.ts";
import { PREVIOUS, type TableWish } from "../support/rollouts/created-rows.ts";
import { T0 } from "../support/rollouts/scenes.ts";
import type { Random } from "./random.ts";

const MINUTE_MS = 60_000;
const POLICIES: readonly FailurePolicy[] = ["partial_ok", "rollback_all", "manual"];

export function rolloutWish(random: Random, nodesMax = 12): TableWish {
  const nodes = 1 + random.below(nodesMax);
  const strategy = random.pick(["rolling", "rolling", "canary", "all_at_once"] as const);
  const common = {
    nodes,
    launchesPerStep: 1 + random.below(4),
    settlesPerStep: 1 + random.below(4),
    failureThreshold: random.pick([0, 0, 0.1, 0.25, 0.5, 1]),
    healthWaitMs: random.pick([0, 2_000, MINUTE_MS, 5 * MINUTE_MS]),
    intentNotAfter: random.chance(0.2) ? T0 + random.below(180 * MINUTE_MS) : null,
    rollbackAllowed: random.chance(0.85),
    previousOf: (n: number) => (n === 3 && nodes > 6 ? null : PREVIOUS),
    ...(random.chance(0.2)
      ? { maxUnavailable: { label: "zone", count: 2 }, labelOf: (n: number) => ["east", "west"][n % 2]! }
      : {}),
  };
  switch (strategy) {
    case "all_at_once":
      return {
        ...common,
        strategy,
        batchSize: nodes,
        forceContinue: random.chance(0.5),
        skipValidation: random.chance(0.3),
      };
    case "canary": {
      const breaking = random.chance(0.6)
        ? ({ migrationType: "breaking", recoveryPlan: "reprovision" } as const)
        : {};
      return {
        ...common,
        strategy,
        canarySize: 1 + random.below(2),
        batchSize: 1 + random.below(5),
        ...breaking,
      };
    }
    default:
      return { ...common, strategy, batchSize: 1 + random.below(5) };
  }
}

export function groupWish(random: Random): GroupWish {
  const count = 2 + random.below(2);
  return {
    failurePolicy: random.pick(POLICIES),
    healthWaitMs: random.pick([0, 10_000, 2 * MINUTE_MS]),
    components: Array.from({ length: count }, () => rolloutWish(random, 4)),
  };
}
