import { expect, test } from "vitest";
import { createRolloutTable, type RolloutTable } from "../../support/rollouts/rollout-table.ts";
import {
  atWork,
  batchSucceeds,
  COMPLETED,
  everyoneReports,
  FAILED,
  lastSignal,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

const fleet = () => started({ nodes: 4, batchSize: 2 });
const ask = (
  table: RolloutTable,
  kind: Parameters<RolloutTable["signal"]>[0],
  now: number,
  reason?: string,
) => {
  table.signal(kind, reason);
  return table.advance(now);
};

test("a pause during a batch takes effect at its end, the health wait included (ROLL-11)", () => {
  const table = fleet();
  ask(table, "pause", T0 + 1, "lunch");
  expect(table.rollout()).toMatchObject({
    status: "running",
    pauseRequested: true,
    why: { code: "PAUSE_REQUESTED" },
  });
  expect(lastSignal(table)).toMatchObject({ signal: "pause", actor: "ann", reason: "lunch", applied: true });
  everyoneReports(table, T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "running", pauseRequested: true });
  for (const nodeId of atWork(table)) table.heartbeat(nodeId, T0 + 60_000);
  table.advance(T0 + 60_002);
  expect(table.rollout()).toMatchObject({ status: "paused", pauseRequested: false, why: { code: "PAUSED" } });
  expect(table.statuses()).toEqual(["succeeded", "succeeded", "pending", "pending"]);
  ask(table, "resume", T0 + 70_000);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1, why: null });
});

test("a pause during the health wait waits for its end as well", () => {
  const table = fleet();
  everyoneReports(table, T0 + 2);
  ask(table, "pause", T0 + 30_000);
  expect(table.rollout()).toMatchObject({ status: "running", pauseRequested: true });
  for (const nodeId of atWork(table)) table.heartbeat(nodeId, T0 + 60_000);
  table.advance(T0 + 60_002);
  expect(table.rollout()).toMatchObject({ status: "paused", currentBatch: 0 });
});

test("a pause can be taken back before it takes effect, and nothing of it is left", () => {
  const table = fleet();
  ask(table, "pause", T0 + 1);
  ask(table, "resume", T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "running", pauseRequested: false, why: null });
  expect(lastSignal(table)).toMatchObject({ signal: "resume", applied: true });
  batchSucceeds(table, T0 + 3);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
});

test("a pause with the start holds before the first batch; in the last batch there is nothing left to pause", () => {
  const early = createRolloutTable({ nodes: 2, batchSize: 2 });
  early.signal("start");
  ask(early, "pause", T0);
  expect(early.rollout()).toMatchObject({ status: "paused", currentBatch: -1 });
  ask(early, "resume", T0 + 1);
  expect(early.rollout()).toMatchObject({ status: "running", currentBatch: 0 });
  ask(early, "pause", T0 + 2);
  batchSucceeds(early, T0 + 3);
  expect(early.rollout()).toMatchObject({ status: "completed", pauseRequested: false, why: null });
});

test("a cancel lets nodes at work finish and skips the rest (ROLL-11)", () => {
  const table = fleet();
  ask(table, "cancel", T0 + 1, "wrong version");
  expect(table.rollout()).toMatchObject({
    status: "running",
    cancelRequested: true,
    why: { code: "CANCEL_REQUESTED" },
  });
  expect(table.statuses()).toEqual(["in_progress", "in_progress", "pending", "pending"]);
  const [first, second] = atWork(table);
  table.report(first!, T0 + 2, FAILED);
  table.report(second!, T0 + 2, COMPLETED);
  table.advance(T0 + 2);
  expect(table.rollout().status).toBe("running");
  table.heartbeat(second!, T0 + 60_000);
  table.advance(T0 + 60_002);
  expect(table.rollout()).toMatchObject({ status: "cancelled", why: { code: "CANCELLED" } });
  expect(table.statuses()).toEqual(["failed", "succeeded", "skipped", "skipped"]);
});

test("a cancel is final: a later pause is not applied, a resume does not take it back", () => {
  const table = fleet();
  ask(table, "cancel", T0 + 1);
  ask(table, "pause", T0 + 2);
  expect(lastSignal(table)).toMatchObject({ signal: "pause", applied: false });
  ask(table, "resume", T0 + 3);
  expect(lastSignal(table)).toMatchObject({ signal: "resume", applied: false });
  expect(table.rollout()).toMatchObject({ cancelRequested: true, why: { code: "CANCEL_REQUESTED" } });
  batchSucceeds(table, T0 + 4);
  expect(table.rollout().status).toBe("cancelled");
});

test("a pending or paused rollout is cancelled at once, all that was not begun skipped", () => {
  const pending = createRolloutTable({ nodes: 2, batchSize: 1 });
  ask(pending, "cancel", T0);
  expect(pending.rollout().status).toBe("cancelled");
  expect(pending.statuses()).toEqual(["skipped", "skipped"]);
  expect(pending.commands).toEqual([]);

  const paused = fleet();
  ask(paused, "pause", T0 + 1);
  batchSucceeds(paused, T0 + 2);
  ask(paused, "cancel", T0 + 100_000);
  expect(paused.rollout().status).toBe("cancelled");
  expect(paused.statuses()).toEqual(["succeeded", "succeeded", "skipped", "skipped"]);
});

test.each(["start", "pause", "resume", "cancel"] as const)(
  "%s on an ended rollout is recorded and changes nothing",
  (kind) => {
    const table = started({ nodes: 1, batchSize: 1, healthWaitMs: 0 });
    everyoneReports(table, T0 + 1);
    const before = table.rollout();
    expect(ask(table, kind, T0 + 2).launches).toEqual([]);
    expect(table.rollout()).toEqual(before);
    expect(lastSignal(table)).toMatchObject({ signal: kind, applied: false });
  },
);

test("an intent whose window is over holds the next batch, and a resume alone does not open it (INTENT_EXPIRED)", () => {
  const table = started({ nodes: 2, batchSize: 1, healthWaitMs: 0, intentNotAfter: T0 + 1000 });
  everyoneReports(table, T0 + 1000);
  expect(table.rollout()).toMatchObject({
    status: "paused",
    currentBatch: 0,
    why: { code: "INTENT_EXPIRED" },
  });
  ask(table, "resume", T0 + 2000);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "INTENT_EXPIRED" } });
  expect(table.commands.length).toBe(1);
});

test("an intent that expires during the last batch does not keep the rollout from completing", () => {
  const table = started({ nodes: 1, batchSize: 1, healthWaitMs: 0, intentNotAfter: T0 + 1 });
  everyoneReports(table, T0 + 1000);
  expect(table.rollout().status).toBe("completed");
});
