import { expect, test } from "vitest";
import type { RolloutTable } from "./rollout-table.ts";
import { simulateFleet } from "./fleet-simulation.ts";

const SEEDS = 300;

test(`${SEEDS} seeded fleets keep every invariant of a rollout, whatever agents and operators do (ROLL-11, ROLL-12, ROLL-15)`, () => {
  const ends = new Map<string, number>();
  const nodeEnds = new Set<string>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    let table: RolloutTable;
    try {
      table = simulateFleet(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
    }
    const { status } = table.rollout();
    ends.set(status, (ends.get(status) ?? 0) + 1);
    for (const node of table.nodes) nodeEnds.add(node.status);
  }
  // A simulation in which nothing goes wrong proves nothing.
  for (const status of ["completed", "failed", "cancelled", "paused"])
    expect(ends.get(status)).toBeGreaterThan(5);
  expect([...nodeEnds].toSorted()).toEqual(["failed", "failed_rollback", "pending", "skipped", "succeeded"]);
});

test("the same seed is the same story", () => {
  const [one, again] = [simulateFleet(7), simulateFleet(7)];
  expect(again.events).toEqual(one.events);
  expect(again.commands).toEqual(one.commands);
  expect(simulateFleet(8).events).not.toEqual(one.events);
});
