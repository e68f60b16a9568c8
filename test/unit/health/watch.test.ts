// The absence of the control plane itself, by clocks that jump (ROLL-15, SNAP-17).
import { expect, test } from "vitest";
import { nextWatch } from "../../../src/core/health/watch.ts";
import { LIMITS } from "../../../src/core/limits.ts";

const NOW = Date.UTC(2026, 5, 1);

test("SNAP-17: after a clock that was ahead is corrected, silence of nodes counts from now and not from then", () => {
  const ahead = nextWatch({ lastLookAt: NOW, hearingSince: NOW - 1_000 }, NOW + 400 * 24 * 3_600_000);
  expect(ahead.hearingSince).toBe(NOW + 400 * 24 * 3_600_000);
  expect(nextWatch(ahead, NOW + 60_000)).toEqual({ lastLookAt: NOW + 60_000, hearingSince: NOW + 60_000 });
});

test("ROLL-15: looks that follow each other leave no gap, also when the clock is slewed back a little", () => {
  const watch = { lastLookAt: NOW, hearingSince: NOW - 60_000 };
  expect(nextWatch(watch, NOW + LIMITS.healthGapMs).hearingSince).toBe(NOW - 60_000);
  expect(nextWatch(watch, NOW - LIMITS.healthGapMs).hearingSince).toBe(NOW - 60_000);
  expect(nextWatch(watch, NOW + LIMITS.healthGapMs + 1).hearingSince).toBe(NOW + LIMITS.healthGapMs + 1);
});
