/**
 * Do the clocks of a control plane agree? (SNAP-17, ADR 21)
 *
 * 1. The wall clock moves as the monotonic clock does. Where it did not, a majority of the nodes' clocks vouches for it:
 *    then it was corrected, or the machine was suspended.
 * 2. The database's clock dates heads and commands, so it is the wall clock's or differs by what an operator accepted.
 * 3. A replica that differs from the database has stopped by itself; of the others, more than half agree.
 * 4. The first nodes that are heard after a start decide once whether the time since the last start was absence or error.
 */
import { LIMITS } from "../limits.ts";

export interface ClockFacts {
  /** How far the wall clock moved beyond the monotonic clock since they last agreed. */
  readonly movedMs: number;
  /** The database's clock minus the wall clock; null when it was not read. */
  readonly databaseMs: number | null;
  /** What an operator accepted for it. */
  readonly acceptedDatabaseMs: number;
  /** Other replicas that sign: their wall clock minus this one. */
  readonly replicasMs: readonly number[];
  /** Nodes' clocks minus the wall clock, one for each node heard. */
  readonly nodesMs: readonly number[];
  /** No majority of nodes has agreed yet, and no operator has confirmed the time. */
  readonly nodesAsked: boolean;
}

export const CLOCK_SOURCES = ["monotonic", "database", "replicas", "nodes"] as const;
export type ClockSource = (typeof CLOCK_SOURCES)[number];

export interface Disagreement {
  readonly source: ClockSource;
  /** By how much the wall clock seems to be ahead; negative when it is behind. */
  readonly aheadMs: number;
}

export interface ClockVerdict {
  readonly disagreements: readonly Disagreement[];
  /** Enough nodes were heard, and most of them agree with the wall clock. */
  readonly nodesAgree: boolean;
  /** They do so closely enough to vouch for a wall clock that moved. */
  readonly nodesVouch: boolean;
}

export function judgeClocks(facts: ClockFacts): ClockVerdict {
  const { movedMs, databaseMs, acceptedDatabaseMs, replicasMs, nodesMs, nodesAsked } = facts;
  const nodesAgree = doMostAgree(nodesMs, LIMITS.nodeClockDisagreeMs);
  const nodesVouch = doMostAgree(nodesMs, LIMITS.clockDisagreeMs);
  const found: Disagreement[] = [];
  if (differs(movedMs) && !nodesVouch) found.push({ source: "monotonic", aheadMs: movedMs }); // (1)
  if (databaseMs !== null && differs(databaseMs) && differs(databaseMs - acceptedDatabaseMs))
    found.push({ source: "database", aheadMs: -databaseMs }); // (2)
  const apart = replicasMs.filter((ms) => differs(ms));
  if (apart.length * 2 > replicasMs.length) found.push({ source: "replicas", aheadMs: -median(apart) }); // (3)
  if (nodesAsked && doMostDiffer(nodesMs)) found.push({ source: "nodes", aheadMs: -median(nodesMs) }); // (4)
  return { disagreements: found, nodesAgree, nodesVouch };
}

const differs = (ms: number, boundMs: number = LIMITS.clockDisagreeMs): boolean => Math.abs(ms) > boundMs;

const doMostAgree = (nodesMs: readonly number[], boundMs: number): boolean =>
  nodesMs.length >= LIMITS.nodeClocksMin &&
  nodesMs.filter((ms) => !differs(ms, boundMs)).length * 2 > nodesMs.length;

const doMostDiffer = (nodesMs: readonly number[]): boolean =>
  nodesMs.length >= LIMITS.nodeClocksMin &&
  nodesMs.filter((ms) => differs(ms, LIMITS.nodeClockDisagreeMs)).length * 2 > nodesMs.length;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const NAMES: Readonly<Record<ClockSource, string>> = {
  monotonic: "the monotonic clock",
  database: "the database's clock",
  replicas: "most other replicas",
  nodes: "the clocks of most nodes heard since the start",
};

/** `CLOCK_DISAGREES: the wall clock is 43200 s ahead of the monotonic clock`. */
export function describeDisagreements(disagreements: readonly Disagreement[]): string | null {
  if (disagreements.length === 0) return null;
  const parts = disagreements.map(({ source, aheadMs }) => {
    const seconds = Math.round(Math.abs(aheadMs) / 1000);
    return `${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} ${NAMES[source]}`;
  });
  return `the wall clock is ${parts.join(", and ")}: nothing is signed until they agree, or \`fairlead authority confirm-time\``;
}
