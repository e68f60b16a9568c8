// Signals about nodes: retry of what failed, skip of what has not begun (ROLL-11).
import { expect, test } from "vitest";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";
import {
  advanceAll,
  atWork,
  batchSucceeds,
  COMPLETED,
  everyoneReports,
  FAILED,
  FAILED_ROLLBACK,
  goesBackWell,
  lastSignal,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

/** Of four nodes in two batches the first has failed; the rollout is paused. */
function oneFailed(body = FAILED): RolloutTable {
  const table = started({ nodes: 4, batchSize: 2, healthWaitMs: 0 });
  const [first, second] = atWork(table);
  table.report(first!, T0 + 1, body);
  table.report(second!, T0 + 1, COMPLETED);
  table.heartbeat(second!, T0 + 1);
  table.advance(T0 + 1);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "THRESHOLD_EXCEEDED" } });
  return table;
}

test("ROLL-11: retry launches what failed once more, forward, as the next attempt; a paused rollout stays paused", () => {
  const table = oneFailed();
  table.signal("retry");
  advanceAll(table, T0 + 2);
  expect(table.commands.slice(2)).toMatchObject([
    { nodeId: table.nodes[0]!.nodeId, direction: "forward", attempt: 2 },
  ]);
  expect(table.nodes[0]).toMatchObject({
    status: "in_progress",
    errorCode: null,
    errorMessage: null,
    attempt: 2,
  });
  expect(table.rollout()).toMatchObject({ status: "paused" });
  expect(table.wakeAt()).not.toBeNull(); // somebody is at work
  everyoneReports(table, T0 + 3);
  expect(table.statuses()).toEqual(["succeeded", "succeeded", "pending", "pending"]);
  expect(table.rollout()).toMatchObject({ status: "paused", acknowledgedFailures: 0 });
  table.signal("resume");
  table.advance(T0 + 4);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
});

test("ROLL-11: a retry that fails again is a new failure", () => {
  const table = oneFailed();
  table.signal("resume");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "running", acknowledgedFailures: 1 });
  table.signal("retry", null, table.nodes[0]!.nodeId);
  advanceAll(table, T0 + 3);
  expect(table.nodes[0]).toMatchObject({ status: "failed", retryRequested: true }); // the next batch is at work
  everyoneReports(table, T0 + 4);
  expect(table.nodes[0]).toMatchObject({ status: "in_progress", batchIndex: 0, retryRequested: false });
  everyoneReports(table, T0 + 5, FAILED);
  expect(table.rollout()).toMatchObject({ status: "paused", acknowledgedFailures: 0 });
  expect(table.rollout().why!.text).toMatch(/^1 of 4/);
});

test("ROLL-11: the gate waits for a retried node, and observes it like its batch", () => {
  const table = started({ nodes: 4, batchSize: 2, failureThreshold: 1 });
  const [first, second] = atWork(table);
  table.report(first!, T0 + 1, FAILED);
  table.report(second!, T0 + 1, COMPLETED);
  table.advance(T0 + 1);
  expect(table.rollout().healthUntil).toBe(T0 + 60_001);
  table.signal("retry", null, first);
  advanceAll(table, T0 + 2);
  expect(table.rollout().healthUntil).toBeNull(); // it begins anew with the last node
  table.heartbeat(second!, T0 + 60_001);
  table.advance(T0 + 60_001);
  expect(table.rollout().currentBatch).toBe(0);
  table.report(first!, T0 + 70_000, COMPLETED);
  table.advance(T0 + 70_000);
  expect(table.rollout().healthUntil).toBe(T0 + 130_000);
  for (const nodeId of [first!, second!]) table.heartbeat(nodeId, T0 + 129_999);
  table.advance(T0 + 130_000);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
});

test("ROLL-6: a retried node that turns out unhealthy goes back under the number of its own attempt", () => {
  const table = started({ nodes: 1, batchSize: 1, failureThreshold: 0, healthWaitMs: 0 });
  const node = table.nodes[0]!;
  table.report(node.nodeId, T0 + 1, COMPLETED);
  table.heartbeat(node.nodeId, T0 + 1, { applicationHealth: "critical" });
  table.advance(T0 + 1);
  goesBackWell(table, T0 + 2);
  expect(node).toMatchObject({ status: "failed", attempt: 1 });
  table.signal("retry");
  advanceAll(table, T0 + 3);
  table.report(node.nodeId, T0 + 4, COMPLETED);
  table.heartbeat(node.nodeId, T0 + 4, { applicationHealth: "critical" });
  table.advance(T0 + 4);
  expect(table.commands.map(({ direction, attempt }) => `${direction} ${attempt}`)).toEqual([
    "forward 1",
    "reverse 1",
    "forward 2",
    "reverse 2",
  ]);
});

test("ROLL-5: a node in failed_rollback is never retried: a person must look", () => {
  const table = oneFailed(FAILED_ROLLBACK);
  for (const nodeId of [null, table.nodes[0]!.nodeId]) {
    table.signal("retry", null, nodeId);
    advanceAll(table, T0 + 2);
    expect(lastSignal(table)).toMatchObject({ signal: "retry", nodeId, applied: false });
  }
  expect(table.commands.length).toBe(2);
});

test("ROLL-11: retry of a node that has not failed is not applied; twice at once it is applied once", () => {
  const table = oneFailed();
  table.signal("retry", null, table.nodes[1]!.nodeId);
  table.signal("retry", null, table.nodes[0]!.nodeId);
  table.signal("retry");
  advanceAll(table, T0 + 2);
  expect(table.consumed.slice(-3).map(({ applied }) => applied)).toEqual([false, true, false]);
  expect(table.commands.length).toBe(3);
});

test("ROLL-11: retries end with the rollout", () => {
  const table = oneFailed();
  table.signal("cancel");
  table.advance(T0 + 2);
  table.signal("retry");
  advanceAll(table, T0 + 3);
  expect(lastSignal(table)).toMatchObject({ applied: false });
});

test("ROLL-11: cancel and rollback of a paused rollout wait for its retried nodes", () => {
  for (const kind of ["cancel", "rollback"] as const) {
    const table = oneFailed();
    table.signal("retry");
    advanceAll(table, T0 + 2);
    table.signal(kind);
    table.advance(T0 + 3);
    expect(table.rollout().status).toBe("paused");
    everyoneReports(table, T0 + 4);
    expect(table.rollout().status).toBe(kind === "cancel" ? "cancelled" : "rolling_back");
  }
});

test("ROLL-11: a skipped node is left out, before the start, between batches and while paused", () => {
  const table = started({ nodes: 3, batchSize: 1, healthWaitMs: 0 });
  table.signal("skip", "broken disk", table.nodes[2]!.nodeId);
  table.advance(T0 + 1);
  expect(lastSignal(table)).toMatchObject({ signal: "skip", nodeId: table.nodes[2]!.nodeId, applied: true });
  expect(table.nodes[2]).toMatchObject({ status: "skipped", stands: null });
  everyoneReports(table, T0 + 2);
  everyoneReports(table, T0 + 3);
  expect(table.rollout().status).toBe("completed");
  expect(table.statuses()).toEqual(["succeeded", "succeeded", "skipped"]);
});

test("ROLL-11: a batch of which all nodes are skipped is passed over", () => {
  const table = started({ nodes: 3, batchSize: 1, healthWaitMs: 0 });
  table.signal("skip", null, table.nodes[1]!.nodeId);
  everyoneReports(table, T0 + 1); // read in the very step that would open its batch
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 2 });
  expect(table.statuses()).toEqual(["succeeded", "skipped", "in_progress"]);
});

test("ROLL-11: a node at work or settled is not skipped", () => {
  const table = started({ nodes: 2, batchSize: 1, healthWaitMs: 0 });
  table.signal("skip", null, table.nodes[0]!.nodeId);
  table.advance(T0 + 1);
  expect(lastSignal(table)).toMatchObject({ applied: false });
  batchSucceeds(table, T0 + 2);
  table.signal("skip", null, table.nodes[0]!.nodeId);
  table.advance(T0 + 3);
  expect(lastSignal(table)).toMatchObject({ applied: false });
  expect(table.nodes[0]!.status).toBe("succeeded");
});

test("ROLL-11: a late verdict of the attempt before is not about the retry, also when both are read in one step", () => {
  const table = oneFailed();
  const { nodeId, commandId } = table.nodes[0]!;
  table.signal("retry", null, nodeId);
  table.report(nodeId, T0 + 2, FAILED, commandId!);
  advanceAll(table, T0 + 2);
  expect(table.nodes[0]).toMatchObject({ status: "in_progress", attempt: 2, phase: "PREPARING" });
  expect(table.rollout()).toMatchObject({ status: "paused", currentBatch: 0 });
});

test("ROLL-11: a retry that was asked for before a failure was read does not cover that failure", () => {
  const table = started({ nodes: 2, batchSize: 2, healthWaitMs: 0, failureThreshold: 1 });
  const [first, second] = atWork(table);
  table.report(first!, T0 + 1, FAILED);
  advanceAll(table, T0 + 1);
  table.signal("retry");
  table.report(second!, T0 + 2, FAILED);
  table.advance(T0 + 2);
  expect(table.nodes.find(({ nodeId }) => nodeId === second)).toMatchObject({
    status: "failed",
    retryRequested: false,
  });
});
