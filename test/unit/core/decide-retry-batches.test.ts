// A retry goes through batches, limits and gates like the first attempt (ROLL-11, ROLL-12).
import { expect, test } from "vitest";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";
import { advanceAll, atWork, COMPLETED, FAILED, started, T0 } from "../../support/rollouts/scenes.ts";

/** Every node at work reports the same and is well; the rollout is advanced until it has nothing left to do at once. */
function batchReports(table: RolloutTable, at: number, body = COMPLETED): void {
  for (const nodeId of atWork(table)) {
    table.report(nodeId, at, body);
    table.heartbeat(nodeId, at);
  }
  advanceAll(table, at);
}

function retried(table: RolloutTable, at: number): void {
  table.signal("retry");
  advanceAll(table, at);
}

const batchesAtWork = (table: RolloutTable): number[] =>
  table.nodes.filter(({ status }) => status === "in_progress").map(({ batchIndex }) => batchIndex);

/** All six failed under threshold 0: paused by the failures of every batch. */
function allFailedOverThreshold(): RolloutTable {
  const table = started({ nodes: 6, batchSize: 2, healthWaitMs: 0, failureThreshold: 0 });
  for (const at of [T0 + 1, T0 + 2, T0 + 3]) {
    batchReports(table, at, FAILED);
    if (at === T0 + 3) break;
    table.signal("resume");
    advanceAll(table, at);
  }
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "THRESHOLD_EXCEEDED" } });
  expect(table.statuses()).toEqual(Array(6).fill("failed"));
  return table;
}

test("ROLL-11: a retry of six failed nodes with batch size two has two of them at work at a time, in their own batches", () => {
  const table = allFailedOverThreshold();
  retried(table, T0 + 10);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "RETRYING" } });
  const seen: number[][] = [];
  for (let at = T0 + 11; atWork(table).length > 0; at += 1) {
    seen.push(batchesAtWork(table));
    batchReports(table, at);
  }
  expect(seen).toEqual([
    [2, 2],
    [0, 0],
    [1, 1],
  ]);
  expect(table.statuses()).toEqual(Array(6).fill("succeeded"));
  expect(table.nodes.map(({ batchIndex }) => batchIndex)).toEqual([0, 0, 1, 1, 2, 2]);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "RETRIED" } });
});

test("ROLL-11: a retried batch that fails again stops the retry of the batches after it, and the pause says how many failed", () => {
  const table = allFailedOverThreshold();
  retried(table, T0 + 10);
  batchReports(table, T0 + 11, FAILED);
  expect(atWork(table)).toEqual([]);
  expect(table.rollout()).toMatchObject({
    status: "paused",
    why: { code: "THRESHOLD_EXCEEDED", text: expect.stringContaining("2 of 6") as string },
  });
  table.advance(T0 + 12);
  expect(atWork(table)).toEqual([]);
  table.signal("resume");
  advanceAll(table, T0 + 13);
  expect(batchesAtWork(table)).toEqual([0, 0]);
});

test("ROLL-11: a retry of a running rollout waits for the batch at work, and goes before the next batch", () => {
  const table = started({ nodes: 6, batchSize: 2, healthWaitMs: 0, failureThreshold: 1 });
  batchReports(table, T0 + 1, FAILED);
  expect(batchesAtWork(table)).toEqual([1, 1]);
  retried(table, T0 + 2);
  expect(batchesAtWork(table)).toEqual([1, 1]);
  batchReports(table, T0 + 3);
  expect(batchesAtWork(table)).toEqual([0, 0]);
  batchReports(table, T0 + 4);
  expect(batchesAtWork(table)).toEqual([2, 2]);
  batchReports(table, T0 + 5);
  expect(table.rollout().status).toBe("completed");
});

test("ROLL-12: a retry launches so many nodes in one step at most, and the next step follows at once", () => {
  const table = started({ nodes: 6, batchSize: 6, healthWaitMs: 0, launchesPerStep: 2 });
  for (let at = T0 + 1; table.statuses().includes("pending"); at += 1) table.advance(at);
  batchReports(table, T0 + 10, FAILED);
  table.signal("retry");
  const launched: number[] = [];
  for (let at = T0 + 11; atWork(table).length < 6; at += 1) {
    table.advance(at);
    launched.push(atWork(table).length);
    expect(table.wakeAt() === at + 1).toBe(atWork(table).length < 6);
  }
  expect(launched).toEqual([0, 2, 4, 6]);
});

/** Four nodes of one zone, of which two may be away; the first batch of two has failed. */
function zoneFailed(): RolloutTable {
  const limit = { maxUnavailable: { label: "zone", count: 2 }, labelOf: () => "east" };
  const table = started({ nodes: 4, batchSize: 2, healthWaitMs: 0, ...limit });
  batchReports(table, T0 + 1, FAILED);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "THRESHOLD_EXCEEDED" } });
  return table;
}
const setState = (table: RolloutTable, nodes: readonly number[], nodeState: "down" | "active"): void => {
  for (const n of nodes) table.nodes[n]!.facts = { ...table.nodes[n]!.facts, nodeState };
};

test("ROLL-12: a retry that would take more nodes of a label value away than may be is held, and goes on with the resume", () => {
  const table = zoneFailed();
  setState(table, [2, 3], "down");
  retried(table, T0 + 10);
  expect(atWork(table)).toEqual([]);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "UNAVAILABLE_LIMIT" } });
  setState(table, [2, 3], "active");
  table.signal("resume");
  advanceAll(table, T0 + 11);
  expect(batchesAtWork(table)).toEqual([0, 0]);
});

test("ROLL-12: a retry of nodes that are away already is not held by the limit", () => {
  const table = zoneFailed();
  setState(table, [0, 1, 2, 3], "down");
  retried(table, T0 + 10);
  expect(batchesAtWork(table)).toEqual([0, 0]);
});

test("ROLL-12: a retried canary is observed and approved like a canary, before any other batch", () => {
  const table = started({
    nodes: 3,
    canarySize: 1,
    batchSize: 2,
    migrationType: "breaking",
    recoveryPlan: "reprovision",
  });
  batchReports(table, T0 + 1, FAILED);
  expect(table.rollout()).toMatchObject({ why: { code: "CANARY_FAILED" } });
  retried(table, T0 + 2);
  batchReports(table, T0 + 3);
  expect(table.rollout().healthUntil).toBe(T0 + 3 + 120_000);
  table.heartbeat(table.nodes[0]!.nodeId, T0 + 120_000);
  advanceAll(table, T0 + 3 + 120_000);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "CANARY_APPROVAL" } });
});

test("ROLL-11: a retry asked for in a pause of an operator waits for the resume", () => {
  const table = started({ nodes: 4, batchSize: 2, healthWaitMs: 0, failureThreshold: 1 });
  table.signal("pause");
  batchReports(table, T0 + 1, FAILED);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "PAUSED" } });
  retried(table, T0 + 2);
  expect(atWork(table)).toEqual([]);
  expect(table.rollout().why).toMatchObject({
    code: "PAUSED",
    text: expect.stringContaining("2 failed nodes") as string,
  });
  table.signal("resume");
  advanceAll(table, T0 + 3);
  expect(batchesAtWork(table)).toEqual([0, 0]);
});

test("ROLL-11: the reason of a pause is true after a retry: what still fails is counted, what is well is not", () => {
  const table = started({ nodes: 4, batchSize: 2, healthWaitMs: 0 });
  batchReports(table, T0 + 1, FAILED);
  expect(table.rollout().why!.text).toMatch(/^2 of 2 /);
  table.signal("retry", null, table.nodes[0]!.nodeId);
  advanceAll(table, T0 + 2);
  expect(table.rollout().why!.code).toBe("RETRYING");
  batchReports(table, T0 + 3);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "THRESHOLD_EXCEEDED" } });
  expect(table.rollout().why!.text).toMatch(/^1 of 2 /);
  table.signal("retry");
  advanceAll(table, T0 + 4);
  batchReports(table, T0 + 5);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "RETRIED" } });
});

test("ROLL-11: a node that waits for its retry ends as failed when the rollout is cancelled", () => {
  const table = allFailedOverThreshold();
  retried(table, T0 + 10);
  table.signal("cancel");
  batchReports(table, T0 + 11);
  expect(table.rollout().status).toBe("cancelled");
  expect(table.statuses()).toEqual(["failed", "failed", "failed", "failed", "succeeded", "succeeded"]);
});

test("ROLL-11: a node that fails in the step that reads a retry of all is not retried: nobody had seen its failure", () => {
  const table = started({ nodes: 2, batchSize: 2, healthWaitMs: 0, failureThreshold: 1 });
  const [first, second] = atWork(table);
  table.report(first!, T0 + 1, FAILED);
  table.advance(T0 + 1);
  table.signal("retry");
  table.report(second!, T0 + 2, FAILED);
  table.advance(T0 + 2);
  expect(table.nodes.map(({ retryRequested }) => retryRequested)).toEqual([true, false]);
});
