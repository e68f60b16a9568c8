/**
 * Judges one look at this replica's clocks and keeps what the next look needs (SNAP-17, ADR 21). No IO: readings come in.
 *
 * 1. Nodes are heard with their heartbeats, each one once: after a start, and after the wall clock moved.
 * 2. A confirmation counts once, and only where this wall clock shows the time that the operator said. The accepted
 *    difference of the database's clock holds for later starts as well.
 * 3. A start long after the time was last proven signs nothing until nodes or an operator have proven it again (ADR 28).
 */
import {
  describeDisagreements,
  isOnlyUnproven,
  judgeClocks,
  type Absence,
  type ClockVerdict,
} from "../../core/clock/judge.ts";
import type { NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { MachineClock } from "../../host/clock.ts";
import type { ClockGate } from "./gate.ts";

/** More votes change nothing. */
const NODES_HEARD_MAX = 1_000;

export interface ClockRows {
  readonly databaseNow: number;
  /** When the clocks last agreed, by the database's clock; null before the first time. */
  readonly provenAt: number | null;
  /** Wall clocks of the other live replicas, each minus the database's. */
  readonly replicas: readonly { readonly offsetMs: number; readonly signs: boolean }[];
  /** The newest one; `database` is the database's clock at that moment. */
  readonly confirmed: {
    readonly seq: number;
    readonly trueTime: number;
    readonly database: number;
  } | null;
}

export interface Compared {
  /** Why nothing is signed; null when the clocks agree. */
  readonly problem: string | null;
  /** The wall clock minus the database's. */
  readonly offsetMs: number;
  /** The confirmation that was taken by this look. */
  readonly taken: number | null;
}

export type Agreement = ReturnType<typeof createAgreement>;

export interface BeforeStart {
  /** The newest confirmation at the start, which was meant for an earlier run. */
  readonly seenSeq: number;
  /** Nodes that were heard when the time was last proven; null when it never was. */
  readonly nodesBefore: number | null;
}

export function createAgreement(gate: ClockGate, clock: MachineClock, before: BeforeStart) {
  /** Each node's clock minus the monotonic clock: true also after the wall clock moved. */
  const heard = new Map<NodeId, number>();
  let isStartAsked = true; // (1)
  let agreedAt = clock.monotonic();
  let lastSeq = before.seenSeq;
  /** Null once this start has proven the time. (3) */
  let { nodesBefore } = before;

  function agree(): void {
    gate.agree();
    agreedAt = clock.monotonic();
  }

  function takeConfirmation({ confirmed, databaseNow }: ClockRows, wall: number): number | null {
    if (confirmed === null || confirmed.seq === lastSeq) return null;
    lastSeq = confirmed.seq;
    const trueNow = confirmed.trueTime + (databaseNow - confirmed.database);
    if (Math.abs(trueNow - wall) > LIMITS.clockDisagreeMs) return null; // (2)
    agree();
    isStartAsked = false;
    nodesBefore = null;
    return confirmed.seq;
  }

  const isMoved = (): boolean => Math.abs(gate.movedMs()) > LIMITS.clockDisagreeMs;

  const absenceIn = ({ provenAt, databaseNow }: ClockRows): Absence | null =>
    nodesBefore === null || provenAt === null ? null : { gapMs: databaseNow - provenAt, nodesBefore };

  function noteAgreement({ nodesAgree, nodesVouch }: ClockVerdict): void {
    nodesBefore = null;
    if (isMoved() ? nodesVouch : clock.monotonic() - agreedAt > LIMITS.clockBaselineMs) agree();
    if (nodesAgree) isStartAsked = false;
    if (!isStartAsked) heard.clear();
  }

  return {
    hear(nodeId: NodeId, clockMs: number): void {
      if ((!isStartAsked && !isMoved()) || clockMs < LIMITS.clockUnsetBeforeMs) return;
      if (heard.size < NODES_HEARD_MAX || heard.has(nodeId)) heard.set(nodeId, clockMs - clock.monotonic());
    },
    /** Opens or closes the gate. `before` is the wall clock when the rows were asked for, `tookMs` how long they took. */
    compare(
      rows: ClockRows,
      { before, tookMs }: { readonly before: number; readonly tookMs: number },
    ): Compared {
      const databaseMs = rows.databaseNow - (before + tookMs / 2);
      const taken = takeConfirmation(rows, before);
      const acceptedDatabaseMs =
        rows.confirmed === null ? 0 : rows.confirmed.database - rows.confirmed.trueTime;
      const wallMinusMonotonic = clock.now() - clock.monotonic();
      const verdict = judgeClocks({
        movedMs: gate.movedMs(),
        databaseMs: tookMs > LIMITS.clockDisagreeMs ? null : databaseMs,
        acceptedDatabaseMs,
        replicasMs: rows.replicas.filter(({ signs }) => signs).map(({ offsetMs }) => offsetMs + databaseMs),
        nodesMs: [...heard.values()].map((clockMinusMonotonic) => clockMinusMonotonic - wallMinusMonotonic),
        nodesAsked: isStartAsked,
        absence: absenceIn(rows),
      });
      const { disagreements } = verdict;
      if (disagreements.length === 0) noteAgreement(verdict);
      const unproven = isOnlyUnproven(disagreements);
      gate.set({
        closed: disagreements.length > 0 && !unproven,
        unproven,
        databaseMinusWallMs:
          Math.abs(databaseMs - acceptedDatabaseMs) <= LIMITS.clockDisagreeMs ? databaseMs : 0,
      });
      return { problem: describeDisagreements(disagreements), offsetMs: -databaseMs, taken };
    },
  };
}
