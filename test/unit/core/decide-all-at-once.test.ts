// All at once (ROLL-12), and the overriding of the threshold that it shares with the others.
import { expect, test } from "vitest";
import type { TableWish } from "../../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";
import { atWork, COMPLETED, everyoneReports, FAILED, started, T0 } from "../../support/rollouts/scenes.ts";

const all = (changes: Partial<TableWish> = {}) =>
  started({ nodes: 4, batchSize: 4, strategy: "all_at_once", ...changes });

/** The first `failing` fail, the others are installed and well. */
function ends(table: RolloutTable, at: number, failing: number): void {
  for (const [index, nodeId] of atWork(table).entries()) {
    table.report(nodeId, at, index < failing ? FAILED : COMPLETED);
    table.heartbeat(nodeId, at + 60_000);
  }
  table.advance(at);
  if (table.rollout().healthUntil !== null) table.advance(table.rollout().healthUntil!);
}

test("ROLL-12: all nodes are one batch", () => {
  expect(all().statuses()).toEqual(Array(4).fill("in_progress"));
});

test("ROLL-12: with force_continue failures pause nothing, and every node is attempted", () => {
  const table = all({ forceContinue: true });
  ends(table, T0 + 1, 3);
  expect(table.rollout().status).toBe("failed");
  expect(table.statuses()).toEqual(["failed", "failed", "failed", "succeeded"]);
});

test("ROLL-12: without it the same failures pause", () => {
  const table = all();
  ends(table, T0 + 1, 3);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "THRESHOLD_EXCEEDED" } });
});

test("ROLL-12: with skip_validation a node succeeds with its report, unobserved", () => {
  const table = all({ skipValidation: true });
  everyoneReports(table, T0 + 1);
  expect(table.rollout()).toMatchObject({ status: "completed", healthUntil: null });
  expect(table.nodes[0]).toMatchObject({ status: "succeeded", stands: "target", installedAt: T0 + 1 });
});

test("ROLL-12: skip_validation believes no failure away", () => {
  const table = all({ skipValidation: true });
  everyoneReports(table, T0 + 1, FAILED);
  expect(table.statuses()).toEqual(Array(4).fill("failed"));
});

test("ROLL-11: force sets a rollout going that its threshold paused, and from then on it looks at no threshold", () => {
  const table = started({ nodes: 4, batchSize: 2 });
  ends(table, T0 + 1, 2);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "THRESHOLD_EXCEEDED" } });
  table.signal("force");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject({
    status: "running",
    currentBatch: 1,
    forceContinue: true,
    why: null,
  });
  ends(table, T0 + 3, 1);
  expect(table.rollout()).toMatchObject({ status: "failed", why: { code: "THRESHOLD_EXCEEDED" } });
});

test("ROLL-11: force on a running rollout is noted and pauses are still possible", () => {
  const table = started({ nodes: 4, batchSize: 2 });
  table.signal("force");
  table.signal("pause");
  table.advance(T0 + 1);
  ends(table, T0 + 2, 1);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "PAUSED" }, forceContinue: true });
  table.signal("force");
  table.advance(T0 + 70_000);
  expect(table.rollout().status).toBe("paused"); // an operator's pause is no failure
});
