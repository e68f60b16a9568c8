/**
 * One machine with its agent, as far as rollouts see them. It is the truth that rows are held against at the end: what
 * is installed changes here and nowhere else. The agent refuses what src/agent/authority refuses.
 */
import type { Digest, NodeId } from "../../src/core/ids.ts";
import { LIMITS } from "../../src/core/limits.ts";
import type { HealthFacts } from "../../src/core/rollout/health.ts";
import type { ReportRow } from "../../src/core/rollout/rows.ts";
import type { AgentVerdict } from "../../src/core/upgrade/phases.ts";
import type { Command } from "../support/rollouts/rollout-table.ts";
import { COMPLETED, FAILED, FAILED_ROLLBACK, progress, refused } from "../support/rollouts/scenes.ts";
import type { Random } from "./random.ts";
import { holds } from "./violation.ts";

const MINUTE_MS = 60_000;
type Installed = Digest | "broken" | null;
export type Send = (at: number, body: ReportRow["body"]) => void;
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
}

export function drawFaults(random: Random, from: number): Faults {
  const deadAt = random.chance(0.06) ? from + random.below(90 * MINUTE_MS) : Infinity;
  const pausedAt = random.chance(0.06) ? from + random.below(90 * MINUTE_MS) : Infinity;
  const resumedAt = pausedAt + 10 * MINUTE_MS + random.below(4 * 60 * MINUTE_MS);
  return { deadAt, pausedAt, resumedAt, claimsMark: random.chance(0.03), losesDisk: random.chance(0.05) };
}

export function createMachine(wish: MachineWish, random: Random) {
  const { nodeId, installed: first, breaking, from } = wish;
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
  let { losesDisk } = faults;
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

  function deliver(command: Command, now: number, send: Send): void {
    if (now >= faults.deadAt || seen.has(command.commandId)) return; // (delivered twice, it gets its old answer)
    if (now >= command.at + LIMITS.commandLifetimeMs) return;
    seen.add(command.commandId);
    const key = `${command.rolloutId}.${command.direction}.${command.attempt}`;
    holds(!ran.has(key), "a command once, one at a time", `${key} was asked for twice`);
    const begun = Math.max(now, busyUntil);
    const refusal = refusalOf(command, begun);
    if (refusal !== null) {
      refusals.set(command.commandId, refusal);
      return send(begun, refused(refusal));
    }
    ran.add(key);
    run(command, begun, send);
  }

  function refusalOf({ direction, rolloutId, from: expected, to }: Command, at: number): string | null {
    if (faults.claimsMark) return "COMMAND_REPLAYED";
    if (random.chance(0.02)) return "COMMAND_EXPIRED";
    const isPrevious = previous?.rolloutId === rolloutId && previous.installed === to;
    if (direction === "reverse" && !isPrevious) return "ROLLBACK_REFUSED";
    return expected === installedAt(at) ? null : "CURRENT_MISMATCH";
  }

  /** A crashed agent goes on where it stood: that only takes longer, up to its own deadlines. */
  function run({ commandId, direction, rolloutId, to }: Command, begun: number, send: Send): void {
    const crashes = random.chance(0.15);
    const took = 4_000 + random.below(crashes ? 9 * MINUTE_MS : 20_000);
    const { pausedAt, resumedAt, deadAt } = faults;
    const isCut = begun < pausedAt && pausedAt <= begun + took;
    const ended = begun + took + (isCut ? resumedAt - pausedAt : 0);
    busyUntil = ended;
    for (let index = 0; index < 8; index++)
      if (random.chance(0.6)) send(begun + Math.floor((took * index) / 8), progress(index));
    if (ended >= deadAt) return;
    const before = installedAt(begun);
    const verdict: AgentVerdict = random.chance(0.86)
      ? "COMPLETED"
      : random.pick(["FAILED", "FAILED", "FAILED_ROLLBACK"]);
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
    send(ended, { COMPLETED, FAILED, FAILED_ROLLBACK }[verdict]);
  }

  return {
    nodeId,
    deliver,
    beat,
    /** A paused agent polls when it goes on. */
    awakeAt: (now: number): number => (isPaused(now) ? faults.resumedAt : now),
    isDead: (now: number) => now >= faults.deadAt,
    installed: () => changes.at(-1)!.installed,
    installedAt,
    isBusy: (now: number): boolean => now < busyUntil,
    /** From now on: a machine that lives for a month meets others each day. */
    meets(met: Faults): void {
      faults = met;
      losesDisk = met.losesDisk;
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
