// A long step keeps its rollout overdue: the sweep does not pile up steps behind it, and gives up on none.

import { expect, test } from "vitest";
import { createQueued } from "../../../src/server/drive/queued.ts";

const overdue = (id: string, generation: number) => ({ id, generation });

test("what was sent is not sent again while no step has begun, and then again after a while", () => {
  const isQueued = createQueued();
  expect(isQueued(overdue("a", 1), 0)).toBe(false);
  expect([1, 2, 3, 4].map((turn) => isQueued(overdue("a", 1), turn))).toEqual([true, true, true, true]);
  expect(isQueued(overdue("a", 1), 5)).toBe(false);
  expect(isQueued(overdue("a", 1), 6)).toBe(true);
});

test("once a step has begun, what is still overdue is sent at once", () => {
  const isQueued = createQueued();
  expect(isQueued(overdue("a", 1), 0)).toBe(false);
  expect(isQueued(overdue("a", 2), 1)).toBe(false);
});

test("each is counted by itself", () => {
  const isQueued = createQueued();
  expect(isQueued(overdue("a", 1), 0)).toBe(false);
  expect(isQueued(overdue("b", 1), 0)).toBe(false);
});
