import { describe, expect, test } from "vitest";
import { NO_PACE, paceAfter, timeLeftMs, type PaceMark } from "../../../src/core/rollout/pace.ts";

const batch = (at: number, index: number): PaceMark => ({ kind: "batch", at, batch: index });
const status = (at: number, to: "running" | "paused" | "rolling_back"): PaceMark => ({
  kind: "status",
  at,
  to,
});
const running = { status: "running", strategy: "rolling", batch_count: 5 } as const;
const left = (marks: PaceMark[], now: number, over: Partial<Parameters<typeof timeLeftMs>[1]> = {}) =>
  timeLeftMs(marks.reduce(paceAfter, NO_PACE), { ...running, ...over }, now);

describe("the time that a rollout will still take", () => {
  test("is unknown before a batch has finished", () => {
    expect(left([], 0)).toBeNull();
    expect(left([batch(0, 0)], 50)).toBeNull();
  });

  test("is what remains of this batch at the pace of the finished ones, and the batches to come", () => {
    expect(left([batch(0, 0), batch(100, 1)], 130)).toBe(70 + 3 * 100);
    expect(left([batch(0, 0), batch(100, 1), batch(300, 2)], 300)).toBe(150 + 2 * 150);
  });

  test("is not less than the batches to come when this one takes long", () => {
    expect(left([batch(0, 0), batch(100, 1)], 5_000)).toBe(300);
  });

  test("counts no pause as work, and is unknown while it lasts", () => {
    const paused = [batch(0, 0), status(100, "paused")];
    expect(left(paused, 10_000, { status: "paused" })).toBeNull();
    expect(left([...paused, status(10_000, "running"), batch(10_000, 1)], 10_000)).toBe(100 + 3 * 100);
  });

  test("ROLL-12: says nothing from a canary, which is observed twice as long", () => {
    expect(left([batch(0, 0), batch(100, 1)], 100, { strategy: "canary" })).toBeNull();
    expect(left([batch(0, 0), batch(100, 1), batch(140, 2)], 140, { strategy: "canary" })).toBe(40 + 2 * 40);
  });

  test("ROLL-14: begins anew on the way back, where batches count down", () => {
    const back = [batch(0, 0), batch(100, 1), status(200, "rolling_back"), batch(200, 1)];
    expect(left(back, 200, { status: "rolling_back" })).toBeNull();
    expect(left([...back, batch(250, 0)], 250, { status: "rolling_back" })).toBe(50);
  });
});
