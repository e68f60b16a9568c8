// Time as a node judges signed frames by it (SNAP-17).
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { AHEAD_REASON, isTooFarAhead, timeWindow } from "../../../src/trust/node-time.ts";
import { at, HOUR_MS, NOW } from "../../support/trust.ts";

const BEHIND = LIMITS.clockBehindFloorMaxMs;
const FIRST = LIMITS.clockUnsetBeforeMs;

test.each<[string, number, number | null, object]>([
  ["no floor", NOW, null, { local: NOW, effective: NOW }],
  ["a floor behind it", NOW, NOW - HOUR_MS, { local: NOW, effective: NOW }],
  ["a floor ahead of it", NOW, NOW + HOUR_MS, { local: NOW, effective: NOW + HOUR_MS }],
  ["a floor a day ahead", NOW, NOW + BEHIND, { local: NOW, effective: NOW + BEHIND }],
  [
    "a floor more than a day ahead",
    NOW,
    NOW + BEHIND + 1,
    { local: NOW + BEHIND + 1, effective: NOW + BEHIND + 1, clockless: true },
  ],
])("SNAP-17: a clock with %s", (_, local, floor, expected) => {
  expect(timeWindow(local, floor)).toEqual(expected);
});

test("SNAP-17: a clock before the product existed is unset, and the floor is the time then", () => {
  expect(timeWindow(FIRST, null)).toEqual({ local: FIRST, effective: FIRST });
  expect(timeWindow(FIRST - 1, null)).toEqual({ local: FIRST - 1, effective: FIRST - 1, clockless: true });
  expect(timeWindow(0, NOW)).toEqual({ local: NOW, effective: NOW, clockless: true });
});

test("a frame may be signed fifteen minutes ahead of clock and floor, and no further", () => {
  const ahead = (ms: number, time = { local: NOW, effective: NOW + HOUR_MS }) => isTooFarAhead(at(ms), time);
  expect(ahead(NOW + HOUR_MS + LIMITS.issuedAheadMaxMs)).toBe(false);
  expect(ahead(NOW + HOUR_MS + LIMITS.issuedAheadMaxMs + 1)).toBe(true);
  expect(AHEAD_REASON).toBe("more than 15 minutes ahead of this node's clock and floor");
});

test("only a frame that tells the time may be further ahead, and only of an unset clock", () => {
  const [set, unset] = [
    { local: NOW, effective: NOW },
    { local: NOW, effective: NOW, clockless: true },
  ];
  const far = at(NOW + HOUR_MS);
  expect(isTooFarAhead(far, unset, { tellsTime: true })).toBe(false);
  expect(isTooFarAhead(far, unset)).toBe(true);
  expect(isTooFarAhead(far, set, { tellsTime: true })).toBe(true);
});
