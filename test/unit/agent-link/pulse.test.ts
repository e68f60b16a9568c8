// How often a node is heard of. Time is the test's own.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { instanceId } from "../../../src/agent/instance.ts";
import { createPulse, type PulseDeps } from "../../../src/agent/pulse.ts";
import { Uuid } from "../../../src/core/ids.ts";
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
let deliver: () => Promise<void>;

beforeEach(() => {
  vi.useFakeTimers();
  leaving = new AbortController();
  beats = [];
  deliver = async () => void beats.push(Date.now());
  const now = () => Date.now();
  deps = {
    programs: { report: async () => [] },
    snapshots: { versions: () => ({}) },
    ledger: { lastRejection: () => null },
    link: () => ({ heartbeat: () => deliver() }),
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

const TURN_MS = 10 * 60_000;
const instanceOf = async () => (await pulse.measure()).instance!;

test("an agent turns to a new id every ten minutes and names the one before it, once the server has heard that one", async () => {
  await vi.advanceTimersByTimeAsync(1);
  const first = await instanceOf();
  await vi.advanceTimersByTimeAsync(TURN_MS - 60_000);
  expect(await instanceOf()).toEqual(first);
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  const second = await instanceOf();
  expect(second).toEqual({ ...first, id: second.id, follows: first.id });
  expect(second.id).not.toBe(first.id);
  await vi.advanceTimersByTimeAsync(TURN_MS + 60_000);
  expect((await instanceOf()).follows).toBe(second.id);
});

test("an agent that the server does not hear stays with its id, however long", async () => {
  await vi.advanceTimersByTimeAsync(1);
  const first = await instanceOf();
  deliver = async () => Promise.reject(new Error("away"));
  await vi.advanceTimersByTimeAsync(3 * TURN_MS);
  expect(await instanceOf()).toEqual(first);
});

test("two clones of one memory, with the same random bytes, turn to different ids", () => {
  const random = Buffer.alloc(16, 7);
  const ids = [1_000n, 1_001n].map((nanoseconds) => Uuid.parse(instanceId(random, nanoseconds)));
  expect(ids[0]).not.toBe(ids[1]);
});

test("an agent says who it is by an id that is its own, and another one's after a restart", async () => {
  const [first, again] = [await pulse.measure(), await pulse.measure()];
  const restarted = await createPulse(deps).measure();
  expect(Heartbeat.parse(first).instance).toMatchObject({ started_at: AT });
  expect(again.instance).toEqual(first.instance);
  expect(restarted.instance!.id).not.toBe(first.instance!.id);
});
