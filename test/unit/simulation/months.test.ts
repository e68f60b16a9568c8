import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { playMonth } from "../../simulation/month.ts";
import { playMonths } from "../../simulation/play-seeds.ts";

const MONTHS = 10;
/** Other months with every run: a seed that breaks a rule is told with the command that replays it. */
const FIRST = randomInt(1, 1_000_000_000);

test("ROLL-29: after a month of faults from a random seed every node runs the version its operator wants, by signals and documented commands alone", () => {
  const { ends, nodeEnds, deeds } = playMonths({ seed: FIRST, runs: MONTHS });
  // A month in which nothing goes wrong proves nothing.
  for (const end of ["completed", "failed", "cancelled", "rolled_back"])
    expect(ends.get(`month's rollout ${end}`), end).toBeGreaterThan(MONTHS);
  for (const deed of ["replaced", "enrolled again", "adopted", "mended", "outage"] as const)
    expect(deeds.get(deed), deed).toBeGreaterThan(MONTHS);
  expect(deeds.get("outage of days")).toBeGreaterThan(1);
  expect([...nodeEnds].toSorted()).toEqual([
    "failed",
    "failed_rollback",
    "rolled_back",
    "skipped",
    "succeeded",
  ]);
}, 120_000);

test("the same seed is the same month, another seed another", () => {
  const commandsOf = (seed: number) => playMonth(seed).rollouts.map(({ commands }) => commands);
  expect(commandsOf(7)).toEqual(commandsOf(7));
  expect(commandsOf(8)).not.toEqual(commandsOf(7));
});
