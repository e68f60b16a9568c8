/**
 * Watches this replica's clocks and opens or closes the gate before its signatures (SNAP-17, ADR 21).
 *
 * 1. When the clocks agree again, rows that were signed or dated ahead of them are mended.
 * 2. The time is proven while the clocks agree, and kept: a start long after it has to prove it again, by nodes that agree
 *    or an operator's word. A second start does not get around that.
 */
import type { NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { machineClock, type MachineClock } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import { repeat, type Repeated } from "../repeat.ts";
import { createAgreement } from "./agreement.ts";
import { mendDatedAhead } from "./dated-ahead.ts";
import type { ClockGate } from "./gate.ts";
import { closeClockIncident, openClockIncident } from "./incident.ts";
import { countNodesBefore, isAnyStopped, readClockRows, writeClockRow, writeProvenTime } from "./rows.ts";

const LOOK_FOR_INCIDENT_MS = 60_000;
const PROVE_EVERY_MS = 60_000;

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
  let stated: string | null = null;
  let written = "";
  /** What the rows were last told; null before the first look: an earlier run may have left its incident open. */
  let toldStopped: boolean | null = null;
  let lookedForIncidentAt = -Infinity;
  const { provenAt: provenBefore, confirmed } = await readClockRows(db, replicaId);
  const agreement = createAgreement(gate, clock, {
    seenSeq: confirmed?.seq ?? 0,
    nodesBefore: provenBefore === null ? null : await countNodesBefore(db, provenBefore), // (2)
  });
  let provenAt = -Infinity;

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
    const { problem, offsetMs, taken } = agreement.compare(rows, { before, tookMs });
    if (taken !== null) log.info("clock confirmed by an operator", { seq: taken });
    if (problem === null) await keepProven();
    await state(problem, offsetMs);
  }

  async function keepProven(): Promise<void> {
    if (clock.monotonic() - provenAt < PROVE_EVERY_MS) return;
    await writeProvenTime(db);
    provenAt = clock.monotonic();
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
    await mendDatedAhead(db); // (1)
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
    hear: agreement.hear,
    look,
    stop: () => looking.stop(),
  };
}

/** Between the jump and the next look. */
const MOVED = "the wall clock moved against the monotonic clock";
