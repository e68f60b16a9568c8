/**
 * How rows are driven: nudges that may get lost, wake-ups that the engine may forget, a sweep that finds what was lost,
 * steps that are repeated, steps whose transaction is lost, and servers that are restarted or away for hours.
 */
import { LIMITS } from "../../src/core/limits.ts";
import { STEADY, type Dating } from "./clocks.ts";
import type { Random } from "./random.ts";
import type { Timeline } from "./timeline.ts";

export interface Driven {
  /** One step; checked by whoever made it. */
  step(now: number): void;
  /** Decided and not committed. */
  decideOnly(now: number): unknown;
  hasWork(): boolean;
  wakeAt(): number | null;
}

const SWEEP_MS = 1_000;
/** Longer than every deadline of a node. */
const LONG_OUTAGE_MS = 5 * 3_600_000;

export type Server = ReturnType<typeof createServer>;

export function createServer(time: Timeline, random: Random, clocks: Dating = STEADY) {
  /** Nudges and wake-ups of an engine that lost its data are gone. */
  let epoch = 0;
  let upAt = 0;
  let availableSince = 0;
  const outages: { from: number; until: number }[] = [];
  /** The sweep's next look at each of the driven. */
  const sweeps: ((now: number, wakesAll: boolean) => void)[] = [];

  function drive(driven: Driven) {
    function advance(now: number): void {
      if (now < upAt) return time.after(upAt + SWEEP_MS, sweep);
      if (!clocks.isOpen()) return; // the sweep calls it again when the clocks agree
      if (random.chance(0.03)) {
        driven.decideOnly(now);
        return time.after(now + 100, advance); // the engine tries again
      }
      driven.step(now);
      if (random.chance(0.1)) driven.step(now); // an engine that repeats itself
      awaitWake();
    }
    function awaitWake(): void {
      const wakeAt = driven.wakeAt();
      if (wakeAt === null) return;
      const from = epoch;
      const due = clocks.trueAt(wakeAt);
      const isMeant = (): boolean => driven.wakeAt() === wakeAt;
      time.after(due, (at) => from === epoch && isMeant() && advance(at));
      time.after(due + SWEEP_MS, (at) => isMeant() && advance(at));
    }
    function sweep(now: number): void {
      if (driven.hasWork() || (driven.wakeAt() ?? Infinity) < clocks.dated(now)) advance(now);
    }
    sweeps.push((now, wakesAll) => {
      if (wakesAll && driven.wakeAt() !== null) advance(now);
      else sweep(now);
      awaitWake();
    });
    /** Rows were committed. */
    function nudge(now: number): void {
      const from = epoch;
      if (!random.chance(0.1)) time.after(now + random.below(50), (at) => from === epoch && advance(at));
      time.after(now + SWEEP_MS + random.below(1_000), sweep);
    }
    return { nudge };
  }

  return {
    drive,
    /** Messages wait until somebody is there to store them. */
    reachableAt: (at: number): number => Math.max(at, upAt),
    /** As the row of the health loop says it. */
    availableSince: (): number => clocks.writtenAt(Math.max(availableSince, clocks.jumpedAt())),
    /** Clocks were changed, or agree again; `wakesAll` where times of the next step were dated ahead. */
    sweepAll(now: number, wakesAll = false): void {
      for (const each of sweeps) each(now, wakesAll);
    },
    wasAway: (at: number): boolean => outages.some(({ from, until }) => from <= at && at < until),
    restart(now: number, awayMs = random.below(random.chance(0.3) ? LONG_OUTAGE_MS : 30_000)): void {
      epoch += 1;
      upAt = Math.max(upAt, now + awayMs);
      outages.push({ from: now, until: upAt });
      if (upAt - now > LIMITS.healthGapMs) availableSince = upAt;
    },
  };
}
