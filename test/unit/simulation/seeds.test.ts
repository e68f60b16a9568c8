import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { playSeeds } from "../../simulation/play-seeds.ts";
import { simulate } from "../../simulation/simulate.ts";

const SEEDS = 1_000;
/** Another thousand with every run: a seed that breaks a rule is told with the command that replays it. */
const FIRST = randomInt(1, 1_000_000_000);

test("ROLL-11, ROLL-12, ROLL-13, ROLL-14, ROLL-22, ROLL-29: a thousand sites from a random seed keep every rule, and every node ends as its machine is", () => {
  const { ends, found, nodeEnds } = playSeeds({ seed: FIRST, runs: SEEDS });
  // A simulation in which nothing goes wrong proves nothing.
  for (const end of ["completed", "failed", "cancelled", "rolled_back"])
    expect(ends.get(`rollout ${end}`), end).toBeGreaterThan(3);
  for (const end of ["completed", "partial", "failed", "cancelled", "rolled_back"])
    expect(ends.get(`group ${end}`), end).toBeGreaterThan(3);
  for (const end of ["completed", "failed", "cancelled", "rolled_back"])
    expect(ends.get(`neighbours ${end}`), end).toBeGreaterThan(3);
  expect(found.get("rollout paused"), "rollout paused").toBeGreaterThan(3);
  expect([...found.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(10);
  expect([...nodeEnds].toSorted()).toEqual([
    "failed",
    "failed_rollback",
    "rolled_back",
    "skipped",
    "succeeded",
  ]);
}, 180_000);

test("the same seed is the same story, another seed another", () => {
  const eventsOf = (seed: number) =>
    simulate(seed).rollouts.map(({ events, commands }) => ({ events, commands }));
  expect(eventsOf(7)).toEqual(eventsOf(7));
  expect(eventsOf(8)).not.toEqual(eventsOf(7));
});

test("a seed that breaks a rule is told with the command that replays it", () => {
  const parts = { claims: false };
  expect(() => playSeeds({ seed: 1, runs: 500 }, parts)).toThrow(
    /^seed (\d+): one active rollout per profile: 2 are active\nreplay it: npm run simulate -- --seed \1 --runs 1$/,
  );
});
