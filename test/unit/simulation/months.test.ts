import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { WRITES } from "../../simulation/full-disk.ts";
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
  for (const deed of ["outage of days", "clock jumped", "started with a wrong clock"] as const)
    expect(deeds.get(deed), deed).toBeGreaterThan(1);
  const ended = [...ends.keys()].filter((end) => end.startsWith("month's group ")).length;
  expect(ended, "endings of groups").toBeGreaterThan(2);
  expect([...nodeEnds].toSorted()).toEqual([
    "failed",
    "failed_rollback",
    "rolled_back",
    "skipped",
    "succeeded",
  ]);
}, 120_000);

test("ROLL-29: months from fixed seeds have a disk that is full at every write of an agent, and every remedy for clocks", () => {
  const { deeds, ends } = playMonths({ seed: 1, runs: 25 });
  for (const write of WRITES) expect(deeds.get(`disk full at ${write}`), write).toBeGreaterThan(0);
  for (const deed of ["time confirmed", "time reset"] as const)
    expect(deeds.get(deed), deed).toBeGreaterThan(0);
  for (const end of ["completed", "failed", "partial", "cancelled", "rolled_back"])
    expect(ends.get(`month's group ${end}`), end).toBeGreaterThan(0);
}, 120_000);

test("the same seed is the same month, another seed another", () => {
  const commandsOf = (seed: number) => playMonth(seed).rollouts.map(({ commands }) => commands);
  expect(commandsOf(7)).toEqual(commandsOf(7));
  expect(commandsOf(8)).not.toEqual(commandsOf(7));
});
