import { expect, test } from "vitest";
import {
  atWork,
  batchSucceeds,
  COMPLETED,
  everyoneReports,
  FAILED,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";

/** The first `failing` nodes at work fail, the others succeed. */
function batchEnds(table: RolloutTable, at: number, failing: number): void {
  for (const [index, nodeId] of atWork(table).entries()) {
    table.report(nodeId, at, index < failing ? FAILED : COMPLETED);
    table.heartbeat(nodeId, at);
  }
  table.advance(at);
}
const fleet = (failureThreshold: number, nodes = 6) =>
  started({ nodes, batchSize: 2, healthWaitMs: 0, failureThreshold });

test("failures over the threshold pause the rollout before the next batch (ROLL-12)", () => {
  const table = fleet(0);
  batchEnds(table, T0 + 1, 1);
  expect(table.rollout()).toMatchObject({
    status: "paused",
    currentBatch: 0,
    why: { code: "THRESHOLD_EXCEEDED" },
  });
  expect(table.statuses()).toEqual(["failed", "succeeded", "pending", "pending", "pending", "pending"]);
  expect(table.wakeAt()).toBeNull();
});

test.each([
  [0.5, 1, "running"],
  [0.49, 1, "paused"],
  [0.99, 2, "paused"],
  [1, 2, "running"],
])(
  "the threshold %d with %i of 2 failed leaves the rollout %s: it must be exceeded, not met",
  (threshold, failing, status) => {
    const table = fleet(threshold);
    batchEnds(table, T0 + 1, failing);
    expect(table.rollout().status).toBe(status);
  },
);

test("a resume goes on, and failures once seen pause nothing again, while new ones do", () => {
  const table = fleet(0);
  batchEnds(table, T0 + 1, 1);
  table.signal("resume");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject({
    status: "running",
    currentBatch: 1,
    acknowledgedFailures: 1,
    why: null,
  });
  batchEnds(table, T0 + 3, 0);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 2 });
  batchEnds(table, T0 + 4, 2);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "THRESHOLD_EXCEEDED" } });
});

test("a last batch over the threshold pauses, and a resume then ends the rollout as failed", () => {
  const table = fleet(0, 2);
  batchEnds(table, T0 + 1, 1);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "THRESHOLD_EXCEEDED" } });
  table.signal("resume");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "failed", why: { code: "THRESHOLD_EXCEEDED" } });
  expect(table.statuses()).toEqual(["failed", "succeeded"]);
});

test("a rollout that was resumed over its failures ends as failed, one within its threshold as completed", () => {
  const over = fleet(0, 4);
  batchEnds(over, T0 + 1, 1);
  over.signal("resume");
  over.advance(T0 + 2);
  batchEnds(over, T0 + 3, 0);
  expect(over.rollout().status).toBe("failed");

  const within = fleet(0.25, 8);
  for (const failing of [0, 1, 0, 0]) batchEnds(within, T0 + 1, failing);
  expect(within.rollout().status).toBe("completed");
});

test("failures count over all that was attempted, not over the batch alone", () => {
  const table = fleet(0.3, 8);
  batchEnds(table, T0 + 1, 0);
  batchEnds(table, T0 + 2, 1); // 1 of 4
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 2 });
  batchEnds(table, T0 + 3, 1); // 2 of 6
  expect(table.rollout().status).toBe("paused");
});

test("a resume that finds the rollout running acknowledges nothing: the threshold still holds", () => {
  const table = fleet(0);
  const [first, second] = atWork(table);
  table.report(first!, T0 + 1, FAILED);
  table.advance(T0 + 1);
  table.signal("resume");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "running", acknowledgedFailures: 0 });
  expect(table.events.at(-1)).toMatchObject({ kind: "rollout.signal", applied: false });
  table.report(second!, T0 + 3, COMPLETED);
  table.heartbeat(second!, T0 + 3);
  table.advance(T0 + 3);
  expect(table.rollout().status).toBe("paused");
});

test("nodes that failed their rollback count as failed too", () => {
  const table = fleet(0.4);
  everyoneReports(table, T0 + 1, { ...FAILED, verdict: "FAILED_ROLLBACK" } as typeof FAILED);
  expect(table.statuses().slice(0, 2)).toEqual(["failed_rollback", "failed_rollback"]);
  expect(table.rollout().status).toBe("paused");
});

test("without failures no threshold pauses anything", () => {
  const table = started({ nodes: 2, batchSize: 1 });
  batchSucceeds(table, batchSucceeds(table, T0 + 1) + 1);
  expect(table.rollout().status).toBe("completed");
});
