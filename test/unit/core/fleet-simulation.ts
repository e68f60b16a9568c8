/**
 * A seeded fleet on a virtual clock: agents that fail, fall silent and repeat themselves, operators who pause, resume
 * and cancel, nudges that get lost. Only `decideRollout` is real; the rows are those of rollout-table.ts.
 */
import type { HealthFacts } from "../../../src/core/rollout/health.ts";
import type { ReportRow } from "../../../src/core/rollout/rows.ts";
import { checkEnd, watchInvariants } from "./fleet-invariants.ts";
import { createRolloutTable, PREVIOUS, type Command, type RolloutTable } from "./rollout-table.ts";
import { COMPLETED, FAILED, FAILED_ROLLBACK, progress, refused, T0 } from "./scenes.ts";

const MINUTE_MS = 60_000;

/** mulberry32: small, and the same everywhere. */
function randomOf(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (p: number) => next() < p,
    pick: <T>(from: readonly T[]): T => from[below(from.length)]!,
  };
}
type Random = ReturnType<typeof randomOf>;

function createTimeline() {
  /** Latest first: the next one is popped. */
  const due: { at: number; run: (now: number) => void }[] = [];
  return {
    after(at: number, run: (now: number) => void): void {
      let [low, high] = [0, due.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (due[middle]!.at > at) low = middle + 1;
        else high = middle;
      }
      due.splice(low, 0, { at, run });
    },
    runAll(): void {
      for (let next = due.pop(); next !== undefined; next = due.pop()) next.run(next.at);
    },
  };
}
type Timeline = ReturnType<typeof createTimeline>;

const SICK: readonly Partial<HealthFacts>[] = [
  { applicationHealth: "critical" },
  { syncStatus: "stalled" },
  { restarts: 5 },
  { runningFingerprint: PREVIOUS },
  { nodeState: "down" },
];

/** One agent's answer to one command, with all that can happen to it on the way. */
function answer(
  table: RolloutTable,
  time: Timeline,
  random: Random,
  nudge: (at: number) => void,
  command: Command,
): void {
  const { nodeId, commandId, at } = command;
  if (random.chance(0.05)) return; // never heard of again
  const send = (when: number, body: ReportRow["body"]): void => {
    const times = random.chance(0.15) ? [when, when + random.below(20 * MINUTE_MS)] : [when]; // resent much later
    for (const arrival of times) {
      time.after(arrival, (now) => {
        table.report(nodeId, now, body, commandId);
        nudge(now);
      });
    }
  };
  const begun = at + random.below(random.chance(0.1) ? 14 * MINUTE_MS : 5_000);
  if (random.chance(0.05)) return send(begun, refused("CURRENT_MISMATCH"));
  for (let index = 0; index < 8; index++) if (random.chance(0.7)) send(begun + index * 500, progress(index));
  const ended = begun + 4_000 + random.below(random.chance(0.1) ? 14 * MINUTE_MS : 10_000);
  const verdict = random.chance(0.85) ? COMPLETED : random.pick([FAILED, FAILED, FAILED_ROLLBACK]);
  send(ended, verdict);
  if (verdict !== COMPLETED) return;
  const sick = command.direction === "forward" && random.chance(0.15) ? random.pick(SICK) : {};
  const beats = random.chance(0.1) ? random.below(3) : 200; // some machines die soon after
  const beat = (left: number) => (now: number) => {
    table.heartbeat(nodeId, now, sick);
    if (left > 1) time.after(now + 10_000, beat(left - 1));
  };
  if (beats > 0) time.after(ended, beat(beats));
}

/** Asks for things at odd times, looks at a paused rollout sooner or later, and at times gives up on it. */
function operate(table: RolloutTable, time: Timeline, random: Random, nudge: (at: number) => void): void {
  const ask = (at: number, kind: Parameters<RolloutTable["signal"]>[0]): void =>
    time.after(at, (now) => {
      table.signal(kind);
      nudge(now);
    });
  ask(T0, "start");
  if (random.chance(0.4))
    ask(T0 + random.below(5 * MINUTE_MS), random.pick(["pause", "resume", "cancel", "start"]));
  if (random.chance(0.3)) ask(T0 + random.below(20 * MINUTE_MS), random.pick(["pause", "resume"]));
  const looks = random.below(12);
  for (let look = 0; look < looks; look++) {
    time.after(T0 + (look + 1) * 40 * MINUTE_MS, (now) => {
      if (table.rollout().status === "paused") ask(now, random.chance(0.8) ? "resume" : "cancel");
    });
  }
}

export function simulateFleet(seed: number): RolloutTable {
  const random = randomOf(seed);
  const time = createTimeline();
  const table = createRolloutTable({
    nodes: 1 + random.below(14),
    batchSize: 1 + random.below(5),
    failureThreshold: random.pick([0, 0, 0.1, 0.25, 0.5, 1]),
    healthWaitMs: random.pick([0, 2_000, MINUTE_MS, 5 * MINUTE_MS]),
    intentNotAfter: random.chance(0.15) ? T0 + random.below(2 * 60 * MINUTE_MS) : null,
    rollbackAllowed: random.chance(0.8),
  });
  const check = watchInvariants(table);
  let seen = 0;

  function advance(now: number): void {
    check(now);
    if (random.chance(0.1)) check(now); // an engine that repeats itself
    for (; seen < table.commands.length; seen++) answer(table, time, random, nudge, table.commands[seen]!);
    const wakeAt = table.wakeAt();
    if (wakeAt !== null) time.after(wakeAt, (at) => table.wakeAt() === wakeAt && advance(at));
  }
  /** Some nudges get lost, and the sweep comes by a second later. */
  function nudge(now: number): void {
    time.after(now + (random.chance(0.1) ? 1_000 : random.below(20)), advance);
  }

  operate(table, time, random, nudge);
  time.runAll();
  checkEnd(table);
  return table;
}
