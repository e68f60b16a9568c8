import { expect, test } from "vitest";
import { createRolloutTable } from "../../support/rollouts/rollout-table.ts";
import {
  atWork,
  batchSucceeds,
  COMPLETED,
  everyoneReports,
  goesBackWell,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

test("nothing happens before the start, and a start launches the first batch only (ROLL-11)", () => {
  const table = createRolloutTable({ nodes: 5, batchSize: 2 });
  expect(table.advance(T0)).toMatchObject({
    launchBatch: null,
    launches: [],
    nodes: [],
    events: [],
    wakeAt: null,
  });
  table.signal("start");
  table.advance(T0);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 0 });
  expect(table.statuses()).toEqual(["in_progress", "in_progress", "pending", "pending", "pending"]);
  expect(table.events).toEqual([
    { kind: "rollout.status", from: "pending", to: "running", why: null },
    { kind: "rollout.signal", signal: "start", nodeId: null, actor: "ann", reason: null, applied: true },
    { kind: "rollout.batch", batch: 0, direction: "forward" },
  ]);
});

test("batches follow one another, and the rollout completes after the last (ROLL-12)", () => {
  const table = started({ nodes: 5, batchSize: 2 });
  let now = T0;
  for (const batch of [0, 1, 2]) {
    expect(table.rollout()).toMatchObject({ status: "running", currentBatch: batch, healthUntil: null });
    expect(table.commands.length).toBe(Math.min(5, (batch + 1) * 2));
    now = batchSucceeds(table, now + 1000);
  }
  expect(table.rollout()).toMatchObject({ status: "completed", why: null });
  expect(table.statuses()).toEqual(Array(5).fill("succeeded"));
  for (const node of table.nodes)
    expect(node).toMatchObject({ phase: null, progressPct: 100, actionName: null });
  expect(table.wakeAt()).toBeNull();
});

test("the next batch waits for the last node of this one", () => {
  const table = started({ nodes: 4, batchSize: 2, healthWaitMs: 0 });
  const [first, second] = atWork(table);
  table.report(first!, T0 + 1, COMPLETED);
  table.heartbeat(first!, T0 + 1);
  table.advance(T0 + 1);
  expect(table.rollout()).toMatchObject({ currentBatch: 0, healthUntil: null });
  table.report(second!, T0 + 2, COMPLETED);
  table.heartbeat(second!, T0 + 2);
  table.advance(T0 + 2);
  expect(table.wakeAt()).toBe(T0 + 3);
  table.advance(T0 + 3);
  expect(table.rollout()).toMatchObject({ currentBatch: 1, healthUntil: null });
  expect(table.statuses()).toEqual(["succeeded", "succeeded", "in_progress", "in_progress"]);
});

test("a health wait of 0 is one look, and the batch is over in the step that reads its last verdict", () => {
  const table = started({ nodes: 2, batchSize: 2, healthWaitMs: 0 });
  everyoneReports(table, T0 + 5);
  expect(table.rollout().status).toBe("completed");
});

test("deciding again on what was decided changes nothing, at every stage", () => {
  const table = started({ nodes: 3, batchSize: 1, failureThreshold: 1 });
  const quiet = (now: number) => {
    const before = structuredClone([table.rollout(), table.nodes]);
    expect(table.advance(now)).toMatchObject({ launches: [], launchBatch: null, events: [], nodes: [] });
    expect(structuredClone([table.rollout(), table.nodes])).toEqual(before);
  };
  quiet(T0);
  everyoneReports(table, T0 + 10);
  quiet(T0 + 10);
  quiet(T0 + 11);
  table.heartbeat(atWork(table)[0]!, T0 + 60_000, { applicationHealth: "critical" });
  table.advance(T0 + 60_010);
  quiet(T0 + 60_010); // a reverse is on its way
  goesBackWell(table, T0 + 60_020);
  quiet(T0 + 120_020); // the second batch is at work
  table.signal("pause");
  table.advance(T0 + 120_030);
  quiet(T0 + 120_030);
  batchSucceeds(table, T0 + 120_040);
  expect(table.rollout().status).toBe("paused");
  quiet(T0 + 200_000);
  table.signal("cancel");
  table.advance(T0 + 200_001);
  quiet(T0 + 200_002);
  expect(table.statuses()).toEqual(["failed", "succeeded", "skipped"]);
});
