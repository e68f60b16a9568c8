import { expect, test } from "vitest";
import { NodeId } from "../../../src/core/ids.ts";
import { createRequestBudget } from "../../../src/server/agents/request-budget.ts";

const [one, other] = ["1", "2"].map((end) => NodeId.parse(`00000000-0000-4000-8000-00000000000${end}`)) as [
  NodeId,
  NodeId,
];

test("a node may send its burst at once, then waits, and is told for how long", () => {
  const budget = createRequestBudget(10, 3);
  expect([0, 0, 0, 0].map((at) => budget.take(one, at))).toEqual([0, 0, 0, 100]);
  expect(budget.take(one, 50)).toBe(50);
  expect(budget.take(one, 100)).toBe(0);
});

test("what one node has used up is no other node's loss", () => {
  const budget = createRequestBudget(10, 1);
  budget.take(one, 0);
  expect([budget.take(one, 0), budget.take(other, 0)]).toEqual([100, 0]);
});

test("a node that was silent for long has its burst again and no more", () => {
  const budget = createRequestBudget(10, 2);
  for (let count = 0; count < 5; count += 1) budget.take(one, 0);
  expect([1e9, 1e9, 1e9].map((at) => budget.take(one, at))).toEqual([0, 0, 100]);
});

test("at its sustained rate a node is never refused", () => {
  const budget = createRequestBudget(20, 1);
  expect(Array.from({ length: 100 }, (_, at) => budget.take(one, at * 50)).every((wait) => wait === 0)).toBe(
    true,
  );
});
