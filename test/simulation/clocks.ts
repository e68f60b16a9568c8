/**
 * Clocks of a control plane on the virtual timeline, which is the true time. Wall clock and database may be wrong; the
 * gate before signatures and the judgement of the clocks are the product's own (src/server/clock).
 *
 * 1. Rows, commands and heads are dated by the database's clock, as in the product.
 * 2. Rows that were dated ahead are mended when the clocks agree again, as src/server/clock/dated-ahead.ts does.
 */
import { FairleadError } from "../../src/core/errors.ts";
import { LIMITS } from "../../src/core/limits.ts";
import type { NodeId } from "../../src/core/ids.ts";
import type { MachineClock } from "../../src/host/clock.ts";
import { createAgreement, type Agreement, type ClockRows } from "../../src/server/clock/agreement.ts";
import { createClockGate, type ClockGate } from "../../src/server/clock/gate.ts";
import type { Timeline } from "./timeline.ts";
import { holds } from "./violation.ts";

/** The part of it that the drive and the fleet see. */
export interface Dating {
  /** Steps write times and sign: while the clocks disagree they do neither. */
  isOpen(): boolean;
  /** The database's clock. */
  dated(at: number): number;
  /** When the database's clock will show a time, unless it is changed before. */
  trueAt(dated: number): number;
  /** The date of a row that was written then, as it reads now. */
  writtenAt(at: number): number;
  /** The time of a frame that is signed now. Null: nothing is signed. */
  signedAt(now: number): number | null;
  /** Since when steps are made without a disagreement between. */
  openSince(): number;
  /** The last change of the database's clock that the health loop takes for an absence. */
  jumpedAt(): number;
}

export const STEADY: Dating = {
  isOpen: () => true,
  dated: (at) => at,
  trueAt: (dated) => dated,
  writtenAt: (at) => at,
  signedAt: (now) => now,
  openSince: () => 0,
  jumpedAt: () => 0,
};

/** Broken on purpose, to see that it is noticed. */
export interface ClockParts {
  readonly gateCloses?: boolean | undefined;
  readonly confirms?: boolean | undefined;
  readonly mendsDates?: boolean | undefined;
}

export interface Skews {
  readonly wall: number;
  readonly database: number;
}

export type Clocks = ReturnType<typeof createClocks>;

export function createClocks(time: Timeline, parts: ClockParts = {}) {
  const { gateCloses = true, confirms = true, mendsDates = true } = parts;
  const history: { readonly from: number; readonly database: number }[] = [{ from: 0, database: 0 }];
  const mended: { readonly at: number; readonly dated: number }[] = [];
  const clock: MachineClock = {
    now: () => time.now() + skews.wall,
    monotonic: () => time.now(),
    sinceBoot: () => time.now(),
  };
  let skews: Skews = { wall: 0, database: 0 };
  let confirmed: ClockRows["confirmed"] = null;
  let [gate, agreement]: [ClockGate, Agreement] = newReplica();
  let jumpedAt = 0;
  let problem: string | null = null;
  let startedAt = 0;
  let openSince = 0;

  function newReplica(): [ClockGate, Agreement] {
    const opened = createClockGate(clock);
    return [opened, createAgreement(opened, clock, { seenSeq: confirmed?.seq ?? 0, nodesBefore: null })];
  }

  const skewAt = (at: number): number => history.findLast(({ from }) => from <= at)!.database;
  const dated = (at: number): number => at + skewAt(at);

  function maySign(issued: number): boolean {
    if (!gateCloses) return true;
    try {
      gate.check(issued);
      return true;
    } catch (error) {
      if (error instanceof FairleadError && error.code === "CLOCK_DISAGREES") return false;
      throw error;
    }
  }

  const acceptedMs = (): number => (confirmed === null ? 0 : confirmed.database - confirmed.trueTime);

  /** Tells whether the clocks agree after a disagreement: rows that were dated ahead are mended then. */
  function look(): boolean {
    const was = problem;
    const rows: ClockRows = { databaseNow: dated(time.now()), provenAt: null, replicas: [], confirmed };
    ({ problem } = agreement.compare(rows, { before: clock.now(), tookMs: 0 }));
    const agrees = was !== null && problem === null;
    if (agrees) openSince = time.now();
    if (agrees && mendsDates) mended.push({ at: time.now(), dated: dated(time.now()) }); // (2)
    return agrees;
  }

  return {
    isOpen: (): boolean => maySign(dated(time.now())),
    dated,
    trueAt: (wanted: number): number => wanted - skewAt(time.now()),
    writtenAt(at: number): number {
      const written = dated(at);
      const mending = mended.find((each) => each.at >= at && isAhead(written, each.dated));
      return mending?.dated ?? written;
    },
    openSince: (): number => openSince,
    jumpedAt: (): number => jumpedAt,
    skews: (): Skews => skews,
    problem: (): string | null => problem ?? (gate.isOpen() ? null : "the wall clock moved"),
    hear: (nodeId: NodeId, clockMs: number): void => agreement.hear(nodeId, clockMs),
    look,
    mends: (): boolean => mendsDates,
    set(changed: Skews): void {
      const by = Math.abs(changed.database - skews.database);
      skews = changed;
      history.push({ from: time.now(), database: changed.database });
      if (by > LIMITS.healthGapMs) jumpedAt = time.now();
    },
    /** A process that starts knows nothing of the clock before it. */
    start(): void {
      [gate, agreement] = newReplica();
      problem = null;
      startedAt = time.now();
      look();
    },
    signedAt(now: number): number | null {
      const issued = dated(now);
      if (!maySign(issued)) return null;
      const isAsked = now - startedAt <= HEARD_WITHIN_MS;
      const isRight = [0, acceptedMs()].some(
        (ms) => Math.abs(issued - now - ms) <= LIMITS.nodeClockDisagreeMs,
      );
      holds(isRight || isAsked, "nothing is signed while clocks disagree", `${issued - now} ms ahead`);
      return issued;
    },
    /** `fairlead authority confirm-time`, from a machine whose clock is right. False: refused. */
    confirm(): boolean {
      if (Math.abs(skews.wall) > LIMITS.clockDisagreeMs) return false;
      const seq = (confirmed?.seq ?? 0) + 1;
      if (confirms) confirmed = { seq, trueTime: time.now(), database: dated(time.now()) };
      return true;
    },
  };
}

/** A start with a wrong clock is noticed when three nodes were heard, of which some are late. */
const HEARD_WITHIN_MS = 5 * 60_000;

const isAhead = (written: number, now: number): boolean => written > now + LIMITS.clockDisagreeMs;
