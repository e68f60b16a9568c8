import { expect, test } from "vitest";
import { undatedWhen } from "../../../src/agent/snapshots/undated.ts";
import type { TimeWindow } from "../../../src/trust/trusted-keys.ts";

test.each<[string, TimeWindow, boolean]>([
  ["an unset clock", { local: 5, effective: 5, clockless: true }, true],
  ["a clock that is set", { local: 4, effective: 5 }, false],
])("SNAP-17: with %s, TLS is told whether dates count, and the floor", (_, time, isNeeded) => {
  const undated = undatedWhen(() => time);
  expect(undated.isNeeded()).toBe(isNeeded);
  expect(undated.notBeforeMs()).toBe(5);
});
