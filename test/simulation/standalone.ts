/** The story of one profile: a rollout, and perhaps a second one over the same machines when the first has ended. */
import { Digest } from "../../src/core/ids.ts";
import { isActive } from "../../src/core/rollout/states.ts";
import type { TableWish } from "../support/rollouts/created-rows.ts";
import { createRolloutTable, type Decide, type RolloutTable } from "../support/rollouts/rollout-table.ts";
import { T0 } from "../support/rollouts/scenes.ts";
import { checkCompensations, checkEnd, checkRest } from "./check-end.ts";
import { checkMachine } from "./check-machine.ts";
import { createFleet, type World } from "./fleet.ts";
import { settleAll, settleRollout } from "./last-operator.ts";
import { operate } from "./operators.ts";
import { rolloutWish } from "./wishes.ts";
import { holds } from "./violation.ts";

const SECOND_TARGET = Digest.parse(`sha256:${"3".repeat(64)}`);
const HOUR_MS = 3_600_000;

export interface StandaloneParts {
  readonly decide?: Decide | undefined;
  /** False: the claim on the profile is not looked at. For the test that shows that this is noticed. */
  readonly claims?: boolean | undefined;
}

export function playStandalone(world: World, { decide, claims = true }: StandaloneParts) {
  const { time, random } = world;
  const fleet = createFleet(world);
  const rollouts: RolloutTable[] = [];
  const nudges: ((at: number) => void)[] = [];
  /** Who holds the profile, as the database has it. */
  let owner: RolloutTable | null = null;

  function claim(table: RolloutTable): boolean {
    if (claims && owner !== null && owner !== table) return false;
    owner = table;
    return true;
  }

  function add(wish: TableWish): void {
    const table = createRolloutTable(wish, decide);
    claim(table);
    rollouts.push(table);
    const nudge = fleet.run(table, () => {
      if (owner === table && !isActive(table.rollout().status)) owner = null;
      oneActive(rollouts);
    });
    nudges.push(nudge);
    const mayReopen = (): boolean => rollouts.at(-1) === table && claim(table);
    operate(world, { table, from: Math.max(T0, time.now()), nudge, mayReopen, isComponent: false });
  }

  add(rolloutWish(random));
  const first = rollouts[0]!;
  if (random.chance(0.3)) {
    for (let hour = 1; hour <= 6; hour++) {
      time.after(T0 + hour * 2 * HOUR_MS, () => {
        const isFree = !claims || owner === null;
        if (rollouts.length > 1 || !isFree) return;
        const known = first.nodes.filter(
          (node) => node.stands !== "unknown" && node.status !== "failed_rollback",
        );
        if (known.length > 0) add(secondWish(known, first, random.below(3) + 1));
      });
    }
  }
  time.runAll();
  for (const table of rollouts) checkRest(table);
  const found = settleAll(world, {
    left: () => rollouts.map((table) => table.rollout().status).find(isActive) ?? null,
    settle: (now, callsOff) => {
      for (const [index, table] of rollouts.entries())
        settleRollout({ table, nudge: nudges[index]!, isComponent: false }, now, callsOff);
    },
  });
  for (const table of rollouts) checkEnd(table);
  const newest = new Map(rollouts.flatMap(({ nodes }) => nodes).map((node) => [node.nodeId, node]));
  for (const node of newest.values()) checkMachine(node, fleet.machines.get(node.nodeId)!);
  for (const table of rollouts) checkCompensations(table);
  return { rollouts, found };
}

function oneActive(rollouts: readonly RolloutTable[]): void {
  const active = rollouts.filter((table) => isActive(table.rollout().status));
  holds(active.length <= 1, "one active rollout per profile", `${active.length} are active`);
}

/** From where each of the machines stands. */
const secondWish = (nodes: RolloutTable["nodes"], first: RolloutTable, batchSize: number): TableWish => ({
  nodes: nodes.length,
  batchSize,
  number: 7,
  nodeIds: nodes.map(({ nodeId }) => nodeId),
  target: SECOND_TARGET,
  previousOf: (n) => nodes[n]!.recorded,
  failureThreshold: first.rollout().failureThreshold,
  healthWaitMs: 2_000,
});
