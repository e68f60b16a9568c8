import { afterEach, expect, test } from "vitest";
import { noteServerTime, serverNow } from "../../../src/console/api/server-clock.ts";

const NOW = 1_800_000_000_000;

afterEach(() => noteServerTime(NOW, NOW));

test("ages in a browser whose clock is minutes off are measured by the server's clock", () => {
  noteServerTime(NOW - 400_000, NOW);
  expect(serverNow(NOW + 1_000)).toBe(NOW - 399_000);
  noteServerTime(NOW + 400_000, NOW);
  expect(serverNow(NOW)).toBe(NOW + 400_000);
});

test("the whole seconds of a Date header move no clock, and an answer without one keeps what is known", () => {
  noteServerTime(NOW - 1_999, NOW);
  expect(serverNow(NOW)).toBe(NOW);
  noteServerTime(NOW + 60_000, NOW);
  noteServerTime(0, NOW);
  expect(serverNow(NOW)).toBe(NOW + 60_000);
});
