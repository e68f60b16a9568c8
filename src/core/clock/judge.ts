/**
 * Do the clocks of a control plane agree? (SNAP-17, ADR 21)
 *
 * 1. The wall clock moves as the monotonic clock does. Where it did not, a majority of the nodes' clocks vouches for it:
 *    then it was corrected, or the machine was suspended.
 * 2. The database's clock dates heads and commands, so it is the wall clock's or differs by what an operator accepted.
 * 3. A replica that differs from the database has stopped by itself; of the others, more than half agree.
 * 4. The first nodes that are heard after a start decide once whether the time since the last start was absence or error.
 * 5. After a gap in which certificates of nodes may have expired, a server that started ahead would hear no node. It signs
 *    nothing until nodes were heard that agree: as many as were there before, three at most (ADR 28).
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
  /** Since the time was last proven, where this start has to prove it again; null where it does not. */
  readonly absence: Absence | null;
  /** No majority of nodes has agreed yet, and no operator has confirmed the time. */
  readonly nodesAsked: boolean;
}

export interface Absence {
  readonly gapMs: number;
  /** Nodes that were heard shortly before it. */
  readonly nodesBefore: number;
}

export const CLOCK_SOURCES = ["monotonic", "database", "replicas", "nodes", "absence"] as const;
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
  const { movedMs, databaseMs, acceptedDatabaseMs, replicasMs, nodesMs, nodesAsked, absence } = facts;
  const nodesAgree = doMostAgree(nodesMs, LIMITS.nodeClockDisagreeMs);
  const nodesVouch = doMostAgree(nodesMs, LIMITS.clockDisagreeMs);
  const found: Disagreement[] = [];
  if (differs(movedMs) && !nodesVouch) found.push({ source: "monotonic", aheadMs: movedMs }); // (1)
  if (databaseMs !== null && differs(databaseMs) && differs(databaseMs - acceptedDatabaseMs))
    found.push({ source: "database", aheadMs: -databaseMs }); // (2)
  const apart = replicasMs.filter((ms) => differs(ms));
  if (apart.length * 2 > replicasMs.length) found.push({ source: "replicas", aheadMs: -median(apart) }); // (3)
  if (nodesAsked && doMostDiffer(nodesMs)) found.push({ source: "nodes", aheadMs: -median(nodesMs) }); // (4)
  if (absence !== null && isUnproven(absence, nodesMs))
    found.push({ source: "absence", aheadMs: absence.gapMs }); // (5)
  return { disagreements: found, nodesAgree, nodesVouch };
}

function isUnproven({ gapMs, nodesBefore }: Absence, nodesMs: readonly number[]): boolean {
  if (gapMs <= LIMITS.clockAbsenceMaxMs || nodesBefore === 0) return false;
  const agreeing = nodesMs.filter((ms) => !differs(ms, LIMITS.nodeClockDisagreeMs)).length;
  return agreeing < Math.min(nodesBefore, LIMITS.nodeClocksMin) || agreeing * 2 <= nodesMs.length;
}

/** Certificates are issued all the same: nodes whose own have expired renew them before they can be heard. */
export const isOnlyUnproven = (disagreements: readonly Disagreement[]): boolean =>
  disagreements.length > 0 && disagreements.every(({ source }) => source === "absence");

const differs = (ms: number, boundMs: number = LIMITS.clockDisagreeMs): boolean => Math.abs(ms) > boundMs;

const doMostAgree = (nodesMs: readonly number[], boundMs: number): boolean =>
  nodesMs.length >= LIMITS.nodeClocksMin &&
  nodesMs.filter((ms) => !differs(ms, boundMs)).length * 2 > nodesMs.length;

const doMostDiffer = (nodesMs: readonly number[]): boolean =>
  nodesMs.length >= LIMITS.nodeClocksMin &&
  nodesMs.filter((ms) => differs(ms, LIMITS.nodeClockDisagreeMs)).length * 2 > nodesMs.length;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const NAMES: Readonly<Record<Exclude<ClockSource, "absence">, string>> = {
  monotonic: "the monotonic clock",
  database: "the database's clock",
  replicas: "most other replicas",
  nodes: "the clocks of most nodes heard since the start",
};

const DAY_MS = 24 * 3_600_000;

/** `CLOCK_DISAGREES: the wall clock is 43200 s ahead of the monotonic clock`. */
export function describeDisagreements(disagreements: readonly Disagreement[]): string | null {
  if (disagreements.length === 0) return null;
  const parts = disagreements.map(({ source, aheadMs }) => {
    if (source === "absence")
      return `${Math.floor(aheadMs / DAY_MS)} days after the time that was last proven, and too few nodes have confirmed it`;
    const seconds = Math.round(Math.abs(aheadMs) / 1000);
    return `${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} ${NAMES[source]}`;
  });
  return `the wall clock is ${parts.join(", and ")}: nothing is signed until they agree, or \`fairlead authority confirm-time\``;
}
