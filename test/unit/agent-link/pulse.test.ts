// How often a node is heard of. Time is the test's own.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPulse, type PulseDeps } from "../../../src/agent/pulse.ts";
import { Heartbeat } from "../../../src/core/protocol/agent-api.ts";
import { silentLogger } from "../../../src/host/log.ts";

const AT = "2026-01-31T12:00:00.000Z";
/** Programs of an idle node are looked at so often: a heartbeat may be late by that much. */
const LOOK_IDLE_MS = 10_000;
const LOOK_BUSY_MS = 500;

let deps: PulseDeps;
let leaving: AbortController;
let beats: number[];
let pulse: ReturnType<typeof createPulse>;
let running: Promise<void>;

beforeEach(() => {
  vi.useFakeTimers();
  leaving = new AbortController();
  beats = [];
  const now = () => Date.now();
  deps = {
    programs: { report: async () => [] },
    snapshots: { versions: () => ({}) },
    ledger: { lastRejection: () => null },
    link: () => ({ heartbeat: async () => void beats.push(Date.now()) }),
    clock: { now, monotonic: now },
    log: silentLogger,
  } as unknown as PulseDeps;
  vi.setSystemTime(AT);
  pulse = createPulse(deps);
  running = pulse.run(leaving.signal);
});
afterEach(async () => {
  leaving.abort();
  await vi.runAllTimersAsync();
  await running;
  vi.useRealTimers();
});

/** Between the heartbeats of so many minutes. */
async function gaps(minutes: number): Promise<number[]> {
  await vi.advanceTimersByTimeAsync(60_000);
  beats.length = 0;
  await vi.advanceTimersByTimeAsync(minutes * 60_000);
  return beats.slice(1).map((at, index) => at - beats[index]!);
}

test("ROLL-7: a node at rest is heard of every thirty seconds", async () => {
  const between = await gaps(5);
  expect(between.length).toBeGreaterThan(5);
  expect(Math.min(...between)).toBeGreaterThanOrEqual(30_000);
  expect(Math.max(...between)).toBeLessThan(30_000 + LOOK_IDLE_MS + 1);
});

test("ROLL-7: while it is upgraded every ten, and afterwards every thirty again", async () => {
  pulse.busy(true);
  const during = await gaps(2);
  expect(during.length).toBeGreaterThan(8);
  expect(Math.min(...during)).toBeGreaterThanOrEqual(10_000);
  expect(Math.max(...during)).toBeLessThan(10_000 + LOOK_BUSY_MS + 1);
  pulse.busy(false);
  expect(Math.min(...(await gaps(5)))).toBeGreaterThanOrEqual(30_000);
});

test("an agent says who it is by an id that is its own for as long as it runs, and another one's after a restart", async () => {
  const [first, again] = [await pulse.measure(), await pulse.measure()];
  const restarted = await createPulse(deps).measure();
  expect(Heartbeat.parse(first).instance).toMatchObject({ started_at: AT });
  expect(again.instance).toEqual(first.instance);
  expect(restarted.instance!.id).not.toBe(first.instance!.id);
});
