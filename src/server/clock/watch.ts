/**
 * Watches this replica's clocks and opens or closes the gate before its signatures (SNAP-17, ADR 21).
 *
 * 1. Nodes are heard with their heartbeats, each one once: after a start, and after the wall clock moved.
 * 2. A confirmation counts once, and only where this wall clock shows the time that the operator said. What it accepted
 *    of the database's clock holds for later starts as well.
 * 3. When the clocks agree again, what was signed or dated ahead of them is mended.
 * 4. The time is proven while the clocks agree, and kept: a start long after it has to prove it again, by nodes that agree
 *    or an operator's word. A second start does not get around that.
 */
import { describeDisagreements, isOnlyUnproven, judgeClocks, type Absence } from "../../core/clock/judge.ts";
import type { NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { machineClock, type MachineClock } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import { repeat, type Repeated } from "../repeat.ts";
import { mendDatedAhead } from "./dated-ahead.ts";
import type { ClockGate } from "./gate.ts";
import { closeClockIncident, openClockIncident } from "./incident.ts";
import {
  countNodesBefore,
  isAnyStopped,
  readClockRows,
  writeClockRow,
  writeProvenTime,
  type ClockRows,
} from "./rows.ts";

const LOOK_FOR_INCIDENT_MS = 60_000;
const PROVE_EVERY_MS = 60_000;
/** More votes change nothing. */
const NODES_HEARD_MAX = 1_000;

export interface ClockWatch {
  /** Why nothing is signed; null when it is. */
  problem(): string | null;
  /** A node's heartbeat arrived, with the node's own clock. */
  hear(nodeId: NodeId, clockMs: number): void;
  /** One look; the loop's own come by themselves. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

export interface ClockWatchDeps {
  readonly db: Database;
  readonly gate: ClockGate;
  readonly log: Logger;
  readonly replicaId: string;
  readonly clock?: MachineClock;
}

export async function startClockWatch(deps: ClockWatchDeps): Promise<ClockWatch> {
  const { db, gate, log, replicaId, clock = machineClock } = deps;
  /** Each node's clock minus the monotonic clock: true also after the wall clock moved. */
  const heard = new Map<NodeId, number>();
  let isStartAsked = true; // (1)
  let agreedAt = clock.monotonic();
  let stated: string | null = null;
  let written = "";
  /** What the rows were last told; null before the first look: an earlier run may have left its incident open. */
  let toldStopped: boolean | null = null;
  let lookedForIncidentAt = -Infinity;
  const first = await readClockRows(db, replicaId);
  let seenSeq = first.confirmed?.seq ?? 0;
  /** Null once this start has proven the time. (4) */
  let nodesBefore = first.provenAt === null ? null : await countNodesBefore(db, first.provenAt);
  let provenAt = -Infinity;

  function agree(): void {
    gate.agree();
    agreedAt = clock.monotonic();
  }

  function takeConfirmation({ confirmed, databaseNow }: ClockRows, wall: number): void {
    if (confirmed === null || confirmed.seq === seenSeq) return;
    seenSeq = confirmed.seq;
    const trueNow = confirmed.trueTime + (databaseNow - confirmed.database);
    if (Math.abs(trueNow - wall) > LIMITS.clockDisagreeMs) return; // (2)
    agree();
    isStartAsked = false;
    nodesBefore = null;
    log.info("clock confirmed by an operator", { seq: confirmed.seq });
  }

  const isMoved = (): boolean => Math.abs(gate.movedMs()) > LIMITS.clockDisagreeMs;

  /** One after the other: the loop's own, and those that were asked for. */
  let last: Promise<void> = Promise.resolve();
  function look(): Promise<void> {
    const done = last.then(compare);
    last = done.catch(() => undefined); // whoever asked for it hears of it
    return done;
  }

  async function compare(): Promise<void> {
    const [before, started] = [clock.now(), clock.monotonic()];
    const rows = await readClockRows(db, replicaId);
    const tookMs = clock.monotonic() - started;
    const databaseMs = rows.databaseNow - (before + tookMs / 2);
    takeConfirmation(rows, before);
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
    if (disagreements.length === 0) await noteAgreement(verdict);
    const unproven = isOnlyUnproven(disagreements);
    gate.set({
      closed: disagreements.length > 0 && !unproven,
      unproven,
      databaseMinusWallMs:
        Math.abs(databaseMs - acceptedDatabaseMs) <= LIMITS.clockDisagreeMs ? databaseMs : 0,
    });
    await state(describeDisagreements(disagreements), -databaseMs);
  }

  const absenceIn = ({ provenAt: last, databaseNow }: ClockRows): Absence | null =>
    nodesBefore === null || last === null ? null : { gapMs: databaseNow - last, nodesBefore };

  async function noteAgreement({ nodesAgree, nodesVouch }: ReturnType<typeof judgeClocks>): Promise<void> {
    nodesBefore = null;
    if (clock.monotonic() - provenAt >= PROVE_EVERY_MS) {
      await writeProvenTime(db);
      provenAt = clock.monotonic();
    }
    if (isMoved() ? nodesVouch : clock.monotonic() - agreedAt > LIMITS.clockBaselineMs) agree();
    if (nodesAgree) isStartAsked = false;
    if (!isStartAsked) heard.clear();
  }

  /** The text changes with each second of a drift: rows and logs change with what it is about. */
  async function state(problem: string | null, offsetMs: number): Promise<void> {
    stated = problem;
    const row = JSON.stringify([Math.round(offsetMs / 1000), problem !== null]);
    if (row !== written) await writeClockRow(db, replicaId, { offsetMs, problem });
    written = row;
    if (problem !== null) return toldStopped === true ? undefined : tellStopped(problem);
    if (toldStopped !== false) await tellAgreed();
    await closeIncidentOfSite();
  }

  async function tellStopped(problem: string): Promise<void> {
    log.error("clocks disagree, signing stopped", { problem });
    await openClockIncident(db, problem, replicaId);
    toldStopped = true;
  }

  async function tellAgreed(): Promise<void> {
    if (toldStopped === true) log.info("clocks agree, signing goes on");
    await mendDatedAhead(db); // (3)
    lookedForIncidentAt = -Infinity;
    toldStopped = false;
  }

  /** A replica that stopped may be gone since: now and then each of the others looks. */
  async function closeIncidentOfSite(): Promise<void> {
    if (clock.monotonic() - lookedForIncidentAt < LOOK_FOR_INCIDENT_MS) return;
    if (!(await isAnyStopped(db))) await closeClockIncident(db);
    lookedForIncidentAt = clock.monotonic();
  }

  await look();
  const looking: Repeated = repeat("comparing clocks", LIMITS.clockLookMs, log, look);
  return {
    problem: () => stated ?? (gate.isOpen() ? null : MOVED),
    hear(nodeId, clockMs) {
      if ((!isStartAsked && !isMoved()) || clockMs < LIMITS.clockUnsetBeforeMs) return;
      if (heard.size < NODES_HEARD_MAX || heard.has(nodeId)) heard.set(nodeId, clockMs - clock.monotonic());
    },
    look,
    stop: () => looking.stop(),
  };
}

/** Between the jump and the next look. */
const MOVED = "the wall clock moved against the monotonic clock";
