/**
 * One machine with its agent, as far as rollouts see them. It is the truth that rows are held against at the end: what
 * is installed changes here and nowhere else. The agent refuses what src/agent/authority refuses.
 */
import type { Digest, NodeId } from "../../src/core/ids.ts";
import { LIMITS } from "../../src/core/limits.ts";
import type { HealthFacts } from "../../src/core/rollout/health.ts";
import type { ReportRow } from "../../src/core/rollout/rows.ts";
import type { AgentVerdict } from "../../src/core/upgrade/phases.ts";
import { COMPLETED, FAILED, FAILED_ROLLBACK, progress, refused } from "../support/rollouts/scenes.ts";
import { BROKEN, createAgentTime, refusalBy, type AgentTime, type Sent } from "./agent-authority.ts";
import { drawFullDisk, NO_FULL_DISK, WRITES, type FullDisk, type Write } from "./full-disk.ts";
import type { Random } from "./random.ts";
import { holds } from "./violation.ts";

const MINUTE_MS = 60_000;
const AGENT_RESTARTS_WITHIN_MS = 3 * 60 * MINUTE_MS;
type Installed = Digest | "broken" | null;
/** A report that only the agent's memory holds is lost with a restart. */
export interface Kept {
  lost: boolean;
  delivered: boolean;
}
export interface AgentIo {
  readonly send: (at: number, body: ReportRow["body"], kept?: Kept) => void;
  readonly later: (at: number, run: (now: number) => void) => void;
  /** The time of the head that a poll brings now. Null: none is signed. */
  readonly head: (now: number) => number | null;
}
/** `unwritten`: the ledger could not take the command, which is fetched again. */
export type Delivered = "taken" | "unwritten";
export type Machine = ReturnType<typeof createMachine>;

const SICK: readonly Partial<HealthFacts>[] = [
  { applicationHealth: "critical" },
  { syncStatus: "stalled" },
  { restarts: 5 },
  { nodeState: "down" },
];

export interface MachineWish {
  readonly nodeId: NodeId;
  /** Null: nothing yet. */
  readonly installed: Digest | null;
  /** The previous version may not read what the new one has written (tier 3). */
  readonly breaking: boolean;
  readonly from: number;
  /** Shared by the programs of one machine; drawn by chance unless given. */
  readonly faults?: Faults;
  /** Of the agent, which the programs of one machine share. */
  readonly time?: AgentTime;
  /** A disk was full at this write. */
  readonly noted?: (write: Write) => void;
  /** False: an interrupted job goes on without authority. For the test that shows that this is noticed. */
  readonly asksAgain?: boolean | undefined;
}

/** What goes wrong with a machine, beyond its upgrades. */
export interface Faults {
  /** It goes away for good. */
  readonly deadAt: number;
  /** Its agent is paused, perhaps for longer than a command lives. */
  readonly pausedAt: number;
  readonly resumedAt: number;
  /** Its mark is above every command that it gets. */
  readonly claimsMark: boolean;
  /** Its disk is replaced after a verdict was written, with ledger, outbox and the record of what it ran before. */
  readonly losesDisk: boolean;
  readonly disk: FullDisk;
}

export function drawFaults(random: Random, from: number): Faults {
  const deadAt = random.chance(0.06) ? from + random.below(90 * MINUTE_MS) : Infinity;
  const pausedAt = random.chance(0.06) ? from + random.below(90 * MINUTE_MS) : Infinity;
  const resumedAt = pausedAt + 10 * MINUTE_MS + random.below(4 * 60 * MINUTE_MS);
  const [claimsMark, losesDisk] = [random.chance(0.03), random.chance(0.05)];
  return { deadAt, pausedAt, resumedAt, claimsMark, losesDisk, disk: drawFullDisk(random) };
}

export function createMachine(wish: MachineWish, random: Random) {
  const { nodeId, installed: first, breaking, from, asksAgain = true, time = createAgentTime() } = wish;
  const changes: { at: number; installed: Installed }[] = [{ at: from, installed: first }];
  const illness = new Map<Installed, Partial<HealthFacts>>([[first, {}]]);
  const seen = new Set<string>();
  const ran = new Set<string>();
  const verdicts = new Map<string, AgentVerdict>();
  const refusals = new Map<string, string>();
  const lost = new Set<string>();
  let previous: { rolloutId: string; installed: Installed } | null = null;
  let busyUntil = 0;
  let migrated = false;
  const beatMs = random.chance(0.1) ? 40_000 : 10_000 + random.below(20_000);
  let faults = wish.faults ?? drawFaults(random, from);
  let { losesDisk, disk } = faults;
  let freedAt = 0;
  let newest: Sent | null = null;
  const isPaused = (at: number): boolean => faults.pausedAt <= at && at < faults.resumedAt;

  const installedAt = (at: number): Installed => changes.findLast((change) => change.at <= at)!.installed;

  function healthOf(version: Installed): Partial<HealthFacts> {
    const known = illness.get(version);
    if (known !== undefined) return known;
    const drawn = random.chance(0.15) ? random.pick(SICK) : {};
    illness.set(version, drawn);
    return drawn;
  }

  /** The newest heartbeat that has come by now; null when none has. */
  function beat(now: number): { at: number; facts: Partial<HealthFacts> } | null {
    const until = Math.min(isPaused(now) ? faults.pausedAt : now, faults.deadAt);
    const at = until - ((until - from) % beatMs);
    if (at < from) return null;
    const version = installedAt(at);
    if (version === "broken" || version === null)
      return { at, facts: { runningFingerprint: null, applicationHealth: "critical" } };
    return { at, facts: { runningFingerprint: version, ...healthOf(version) } };
  }

  function deliver(command: Sent, now: number, io: AgentIo): Delivered {
    if (now >= faults.deadAt || seen.has(command.commandId)) return "taken"; // (delivered twice, it gets its old answer)
    if (now < freedAt || isStruckAt("permit") || isStruckAt("ledger")) {
      if (now >= freedAt) strike(now);
      return "unwritten";
    }
    seen.add(command.commandId);
    const head = io.head(now);
    if (head !== null) time.takeHead(head, now);
    const key = `${command.rolloutId}.${command.direction}.${command.attempt}`;
    holds(!ran.has(key), "a command once, one at a time", `${key} was asked for twice`);
    const begun = Math.max(now, busyUntil);
    const refusal = refusalOf(command, begun, time.isHeadFresh(now));
    if (refusal !== null) {
      refusals.set(command.commandId, refusal);
      io.send(begun, refused(refusal));
      return "taken";
    }
    time.raiseFloor(command.at, now);
    newest = command;
    ran.add(key);
    run(command, begun, io);
    return "taken";
  }

  const isStruckAt = (write: Write): boolean => disk.write === write;

  /** The disk is full from this write of the running job on. */
  function strike(now: number): void {
    wish.noted?.(disk.write!);
    freedAt = now + disk.lastsMs;
    disk = NO_FULL_DISK;
  }

  function refusalOf(command: Sent, at: number, isHeadFresh: boolean): string | null {
    if (faults.claimsMark) return "COMMAND_REPLAYED";
    if (random.chance(0.02)) return "COMMAND_EXPIRED";
    if (!isHeadFresh) return "HEAD_STALE";
    return refusalBy(command, { ...facts(at), mark: newest?.sequence ?? 0, newest: command });
  }

  function facts(at: number) {
    const installed = installedAt(at);
    return {
      time: time.window(at),
      installed: installed === "broken" ? BROKEN : installed,
      previous: previous && {
        rolloutId: previous.rolloutId,
        installed: previous.installed === "broken" ? BROKEN : previous.installed,
      },
    };
  }

  /** A crashed agent goes on where it stood: that only takes longer, up to its own deadlines. */
  function run(command: Sent, begun: number, io: AgentIo): void {
    const { commandId, direction, rolloutId, to } = command;
    const crashes = random.chance(0.15);
    const took = 4_000 + random.below(crashes ? 9 * MINUTE_MS : 20_000);
    const { pausedAt, resumedAt, deadAt } = faults;
    const isCut = begun < pausedAt && pausedAt <= begun + took;
    const ended = begun + took + (isCut ? resumedAt - pausedAt : 0);
    busyUntil = ended;
    for (let index = 0; index < 8; index++)
      if (random.chance(0.6)) io.send(begun + Math.floor((took * index) / 8), progress(index));
    if (ended >= deadAt) return;
    const before = installedAt(begun);
    const struck = disk.write === null ? WRITES.length : WRITES.indexOf(disk.write);
    if (disk.write !== null) strike(ended);
    const isWritten = (write: Write): boolean => WRITES.indexOf(write) < struck;
    const drawn: AgentVerdict = random.chance(0.86)
      ? "COMPLETED"
      : random.pick(["FAILED", "FAILED", "FAILED_ROLLBACK"]);
    // A checkpoint or a record that cannot be written ends the job, and it is taken back.
    const verdict = isWritten("activation") ? drawn : "FAILED";
    const after = { COMPLETED: to, FAILED: before, FAILED_ROLLBACK: "broken" as const }[verdict];
    changes.push({ at: ended, installed: after });
    verdicts.set(commandId, verdict);
    if (verdict === "COMPLETED") {
      previous = direction === "forward" ? { rolloutId, installed: before } : null;
      if (direction === "forward" && breaking) migrated = true;
      // A tier 3 crash loop: back on the old version, which cannot read the state any more.
      if (direction === "reverse" && migrated) illness.set(to, random.chance(0.3) ? { restarts: 9 } : {});
    }
    if (losesDisk) {
      losesDisk = false;
      previous = null;
      lost.add(commandId);
      return;
    }
    const body = { COMPLETED, FAILED, FAILED_ROLLBACK }[verdict];
    if (isWritten("report")) return io.send(ended, body);
    const kept: Kept = { lost: false, delivered: false };
    io.send(ended, body, kept);
    if (random.chance(0.5)) io.later(ended + random.below(AGENT_RESTARTS_WITHIN_MS), restart);

    /** Its permit is removed when the report is delivered; until then a restart takes the job up again. */
    function restart(now: number): void {
      if (kept.delivered) return;
      kept.lost = true;
      if (now >= faults.deadAt) return void lost.add(commandId);
      // Only a failure without its verdict on disk is run again: for the others the checkpoint tells the end.
      const isKnown = isWritten("verdict") || verdict !== "FAILED";
      if (isKnown) return io.send(now, body);
      const begins = Math.max(now, busyUntil);
      const mark = newest!.sequence > command.sequence ? newest!.sequence : command.sequence - 1;
      const refusal = asksAgain ? refusalBy(command, { ...facts(begins), mark, newest: newest! }) : null;
      if (refusal !== null) return io.send(now, FAILED);
      const isNewest = newest === command && command.from === installedAt(begins);
      const what = `${commandId} of ${nodeId} begins ${begins - command.at} ms after its signature`;
      const isInTime = time.window(begins).effective < command.at + LIMITS.commandLifetimeMs;
      holds(isNewest && isInTime, "no job begins without authority", what);
      run(command, begins, io);
    }
  }

  return {
    nodeId,
    deliver,
    beat,
    time,
    /** A paused agent polls when it goes on. */
    awakeAt: (now: number): number => (isPaused(now) ? faults.resumedAt : now),
    isDead: (now: number) => now >= faults.deadAt,
    installed: () => changes.at(-1)!.installed,
    installedAt,
    isBusy: (now: number): boolean => now < busyUntil,
    /** From now on: a machine that lives for a month meets others each day. */
    meets(met: Faults): void {
      faults = met;
      ({ losesDisk, disk } = met);
    },
    /** A person puts these bytes in by hand, and they run. The agent keeps no way back from there. */
    mend(at: number, version: Digest): void {
      changes.push({ at, installed: version });
      illness.set(version, {});
      previous = null;
    },
    /** A version without a fault on this machine. */
    agreesWith: (version: Digest): void => void illness.set(version, {}),
    /** Null: it never came to an end, or never began. */
    verdictOn: (commandId: string): AgentVerdict | null => verdicts.get(commandId) ?? null,
    hasSent: (commandId: string): boolean => verdicts.has(commandId) && !lost.has(commandId),
    refusalOf: (commandId: string): string | null => refusals.get(commandId) ?? null,
  };
}
