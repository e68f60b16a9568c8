// Canary (ROLL-12): a first batch of its own, observed for twice as long, and for a breaking migration an approval.
import { expect, test } from "vitest";
import type { TableWish } from "../../support/rollouts/created-rows.ts";
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

const BREAKING = { migrationType: "breaking", recoveryPlan: "reprovision from a snapshot" } as const;
const canary = (changes: Partial<TableWish> = {}) =>
  started({ nodes: 5, canarySize: 2, batchSize: 3, failureThreshold: 1, ...changes });

function canaryEnds(table: RolloutTable, at: number, failing = 0): number {
  for (const [index, nodeId] of atWork(table).entries())
    table.report(nodeId, at, index < failing ? FAILED : COMPLETED);
  table.advance(at);
  const due = table.rollout().healthUntil ?? at;
  for (const nodeId of atWork(table)) table.heartbeat(nodeId, due);
  table.advance(due);
  return due;
}

test("ROLL-12: a force passes no approval that is missing", () => {
  const table = canary(BREAKING);
  const due = canaryEnds(table, T0 + 1);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "CANARY_APPROVAL" } });
  table.signal("force");
  table.advance(due + 1);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "CANARY_APPROVAL" } });
});

test("ROLL-12: the canary is observed for twice the health wait, the batches after it for once", () => {
  const table = canary();
  expect(table.statuses()).toEqual(["in_progress", "in_progress", "pending", "pending", "pending"]);
  everyoneReports(table, T0 + 1);
  expect(table.rollout().healthUntil).toBe(T0 + 1 + 120_000);
  for (const nodeId of atWork(table)) table.heartbeat(nodeId, T0 + 120_000);
  table.advance(T0 + 120_000);
  expect(table.rollout().currentBatch).toBe(0);
  table.advance(T0 + 120_001);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
  everyoneReports(table, T0 + 130_000);
  expect(table.rollout().healthUntil).toBe(T0 + 130_000 + 60_000);
});

test("ROLL-12: one failed canary node pauses, even where the threshold would let it pass", () => {
  const table = canary();
  canaryEnds(table, T0 + 1, 1);
  expect(table.rollout()).toMatchObject({
    status: "paused",
    currentBatch: 0,
    why: { code: "CANARY_FAILED" },
  });
  expect(table.commands.length).toBe(2);
});

test("ROLL-12: a failure after the canary is the threshold's business alone", () => {
  const table = canary();
  const due = canaryEnds(table, T0 + 1);
  for (const [index, nodeId] of atWork(table).entries())
    table.report(nodeId, due + 1, index === 0 ? FAILED : COMPLETED);
  table.advance(due + 1);
  for (const nodeId of atWork(table)) table.heartbeat(nodeId, due + 60_001);
  table.advance(due + 60_001);
  expect(table.rollout().status).toBe("completed");
});

test.each(["resume", "force"] as const)("ROLL-11: %s goes on after a failed canary", (kind) => {
  const table = canary();
  const due = canaryEnds(table, T0 + 1, 1);
  table.signal(kind);
  table.advance(due + 1);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1, why: null });
  expect(table.rollout().forceContinue).toBe(kind === "force");
});

test("ROLL-12: the healthy canary of a breaking migration waits for an approval, which is recorded", () => {
  const table = canary(BREAKING);
  const due = canaryEnds(table, T0 + 1);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "CANARY_APPROVAL" } });
  expect(table.wakeAt()).toBeNull(); // days may pass
  table.signal("approve_canary", "looked at both");
  table.advance(due + 3 * 24 * 3_600_000);
  expect(table.rollout()).toMatchObject({
    status: "running",
    currentBatch: 1,
    canaryApprovedBy: "ann",
    canaryApprovedAt: due + 3 * 24 * 3_600_000,
  });
  batchSucceeds(table, due + 4 * 24 * 3_600_000);
  expect(table.rollout().status).toBe("completed");
});

test.each(["resume", "force", "start", "pause"] as const)(
  "ROLL-12: %s does not replace the approval of a breaking migration",
  (kind) => {
    const table = canary(BREAKING);
    const due = canaryEnds(table, T0 + 1);
    table.signal(kind);
    table.advance(due + 1);
    expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "CANARY_APPROVAL" } });
    expect(table.commands.length).toBe(2);
  },
);

test("ROLL-12: a force does not set a rollout going that waits for its approval, not even for a moment", () => {
  const table = canary(BREAKING);
  const due = canaryEnds(table, T0 + 1);
  table.signal("force");
  const { events } = table.advance(due + 1);
  expect(events.filter(({ kind }) => kind === "rollout.status")).toEqual([]);
});

test("ROLL-12: an approval before the canary is well is not applied, and neither is one after", () => {
  const table = canary(BREAKING);
  table.signal("approve_canary");
  table.advance(T0 + 1);
  expect(lastSignal(table)).toMatchObject({ signal: "approve_canary", applied: false });
  const failed = canaryEnds(table, T0 + 2, 1);
  table.signal("approve_canary");
  table.advance(failed + 1);
  expect(lastSignal(table)).toMatchObject({ applied: false });
  expect(table.rollout()).toMatchObject({ why: { code: "CANARY_FAILED" }, canaryApprovedAt: null });
});

test("ROLL-12: after a failed canary node was seen and gone on from, the approval is still asked for", () => {
  const table = canary(BREAKING);
  const due = canaryEnds(table, T0 + 1, 1);
  table.signal("resume");
  table.advance(due + 1);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "CANARY_APPROVAL" } });
});

test("ROLL-12: a migration that is not breaking goes on by itself", () => {
  const table = canary({ migrationType: "compatible" });
  canaryEnds(table, T0 + 1);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
});

test("ROLL-12: a breaking migration whose canary nodes are all skipped goes nowhere without an approval", () => {
  const table = createRolloutTable({ nodes: 3, canarySize: 1, batchSize: 2, ...BREAKING });
  table.signal("skip", null, table.nodes[0]!.nodeId);
  table.signal("start");
  table.advance(T0);
  expect(table.rollout()).toMatchObject({
    status: "paused",
    currentBatch: -1,
    why: { code: "CANARY_APPROVAL" },
  });
  expect(table.commands).toEqual([]);
  table.signal("approve_canary");
  table.advance(T0 + 1);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
});
