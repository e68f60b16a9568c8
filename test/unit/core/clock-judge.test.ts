// Do the clocks of a control plane agree? (SNAP-17, ADR 21)
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  describeDisagreements,
  isOnlyUnproven,
  judgeClocks,
  type ClockFacts,
} from "../../../src/core/clock/judge.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BOUND = MINUTE_MS;

const AGREED: ClockFacts = {
  movedMs: 0,
  databaseMs: 0,
  acceptedDatabaseMs: 0,
  replicasMs: [],
  nodesMs: [],
  nodesAsked: true,
  absence: null,
};
const LONG = { gapMs: 10 * DAY_MS + 1, nodesBefore: 5 };
const sourcesOf = (facts: Partial<ClockFacts>): string[] =>
  judgeClocks({ ...AGREED, ...facts }).disagreements.map(({ source }) => source);

test.each<[string, Partial<ClockFacts>, string[]]>([
  ["nothing is wrong", {}, []],
  ["the wall clock moved by exactly 60 s", { movedMs: BOUND }, []],
  ["the wall clock moved by more than 60 s", { movedMs: BOUND + 1 }, ["monotonic"]],
  ["the wall clock moved back by more than 60 s", { movedMs: -BOUND - 1 }, ["monotonic"]],
  ["the wall clock moved, and two nodes agree with it", { movedMs: HOUR_MS, nodesMs: [0, 0] }, ["monotonic"]],
  ["the wall clock moved, and three nodes agree with it", { movedMs: HOUR_MS, nodesMs: [0, 0, 0] }, []],
  [
    "the wall clock moved, and three nodes agree with it within minutes only",
    { movedMs: HOUR_MS, nodesMs: [2 * MINUTE_MS, 2 * MINUTE_MS, 2 * MINUTE_MS] },
    ["monotonic"],
  ],
  ["the database is 60 s behind", { databaseMs: -BOUND }, []],
  ["the database is more than 60 s behind", { databaseMs: -BOUND - 1 }, ["database"]],
  ["the database was not read", { databaseMs: null }, []],
  [
    "an operator accepted the database's difference",
    { databaseMs: HOUR_MS, acceptedDatabaseMs: HOUR_MS },
    [],
  ],
  ["the database came back after that", { databaseMs: 0, acceptedDatabaseMs: HOUR_MS }, []],
  [
    "the database left what was accepted",
    { databaseMs: 2 * HOUR_MS, acceptedDatabaseMs: HOUR_MS },
    ["database"],
  ],
  ["the one other replica differs", { replicasMs: [BOUND + 1] }, ["replicas"]],
  ["one of two other replicas differs", { replicasMs: [BOUND + 1, 0] }, []],
  ["two of three other replicas differ", { replicasMs: [BOUND + 1, 0, -HOUR_MS] }, ["replicas"]],
  ["two nodes differ after the start", { nodesMs: [HOUR_MS, HOUR_MS] }, []],
  ["two of three nodes differ after the start", { nodesMs: [HOUR_MS, HOUR_MS, 0] }, ["nodes"]],
  ["one of three nodes differs after the start", { nodesMs: [HOUR_MS, 0, 0] }, []],
  ["two of four nodes differ after the start", { nodesMs: [HOUR_MS, HOUR_MS, 0, 0] }, []],
  ["nodes differ by exactly five minutes", { nodesMs: [5 * MINUTE_MS, 5 * MINUTE_MS, -5 * MINUTE_MS] }, []],
  [
    "nodes differ, and are not asked any more",
    { nodesMs: [HOUR_MS, HOUR_MS, HOUR_MS], nodesAsked: false },
    [],
  ],
  ["it was away for ten days", { absence: { ...LONG, gapMs: 10 * DAY_MS } }, []],
  ["it was away for longer, and no node is heard", { absence: LONG }, ["absence"]],
  ["it was away for longer, and two of five nodes agree", { absence: LONG, nodesMs: [0, 0] }, ["absence"]],
  ["it was away for longer, and three of five nodes agree", { absence: LONG, nodesMs: [0, 0, 0] }, []],
  [
    "it was away for longer, and three nodes agree while three differ",
    { absence: LONG, nodesMs: [0, 0, 0, -DAY_MS, -DAY_MS, -DAY_MS] },
    ["absence"],
  ],
  [
    "it was away for longer, and its only node agrees",
    { absence: { ...LONG, nodesBefore: 1 }, nodesMs: [0] },
    [],
  ],
  ["it was away for longer, and had no node before", { absence: { ...LONG, nodesBefore: 0 } }, []],
  [
    "it was away for longer, and its only node differs",
    { absence: { ...LONG, nodesBefore: 1 }, nodesMs: [-40 * DAY_MS] },
    ["absence"],
  ],
])("SNAP-17: judging clocks when %s", (_when, facts, sources) => {
  expect(sourcesOf(facts)).toEqual(sources);
});

test("SNAP-17: a minority of nodes never stops signing, whatever their clocks show", () => {
  const any = fc.integer({ min: -1e15, max: 1e15 });
  const good = fc.integer({ min: -BOUND, max: BOUND });
  fc.assert(
    fc.property(
      fc.array(good, { minLength: 2, maxLength: 20 }),
      fc.array(any, { maxLength: 20 }),
      (well, ill) => {
        const nodesMs = [...well, ...ill.slice(0, well.length - 1)];
        expect(sourcesOf({ nodesMs })).toEqual([]);
      },
    ),
  );
});

test("SNAP-17: the text says by how much the wall clock is ahead or behind, and what to do", () => {
  const { disagreements } = judgeClocks({ ...AGREED, movedMs: 12 * HOUR_MS, databaseMs: 2 * HOUR_MS });
  expect(describeDisagreements(disagreements)).toBe(
    "the wall clock is 43200 s ahead of the monotonic clock, and 7200 s behind the database's clock: nothing is signed until they agree, or `fairlead authority confirm-time`",
  );
  expect(describeDisagreements([])).toBeNull();
});

test("SNAP-17: the text of a start whose time is not proven says how long the absence is, and what to do", () => {
  const { disagreements } = judgeClocks({ ...AGREED, absence: { gapMs: 40.5 * DAY_MS, nodesBefore: 3 } });
  expect(describeDisagreements(disagreements)).toBe(
    "the wall clock is 40 days after the time that was last proven, and too few nodes have confirmed it: nothing is signed until they agree, or `fairlead authority confirm-time`",
  );
  expect(isOnlyUnproven(disagreements)).toBe(true);
  expect(isOnlyUnproven([])).toBe(false);
  expect(isOnlyUnproven([...disagreements, { source: "database", aheadMs: HOUR_MS }])).toBe(false);
});
