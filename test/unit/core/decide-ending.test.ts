// The end of a rollout says what happened: a status that a script can trust, and the counts in words (ROLL-12).
import { expect, test } from "vitest";
import type { TableWish } from "../../support/rollouts/created-rows.ts";
import { createRolloutTable, type RolloutTable } from "../../support/rollouts/rollout-table.ts";
import { advanceAll, atWork, COMPLETED, FAILED, started, T0 } from "../../support/rollouts/scenes.ts";

/** The first `failing` nodes at work fail, the others are installed and well. */
function ends(table: RolloutTable, at: number, failing: number): void {
  for (const [index, nodeId] of atWork(table).entries()) {
    table.report(nodeId, at, index < failing ? FAILED : COMPLETED);
    table.heartbeat(nodeId, at);
  }
  advanceAll(table, at);
}

const fleet = (changes: Partial<TableWish> = {}): RolloutTable =>
  started({ nodes: 4, batchSize: 4, healthWaitMs: 0, ...changes });

test.each([
  ["all_at_once with force_continue", { strategy: "all_at_once", forceContinue: true }],
  ["rolling with force_continue", { forceContinue: true }],
] as const)("ROLL-12: %s goes past its failures, and over the threshold it ends failed", (_, changes) => {
  const table = fleet(changes);
  ends(table, T0 + 1, 3);
  expect(table.rollout()).toMatchObject({
    status: "failed",
    why: {
      code: "THRESHOLD_EXCEEDED",
      text: "3 of 4 attempted nodes failed, the threshold is 0; it went past them because it was forced",
    },
  });
});

test("ROLL-12: a forced rollout within its threshold completes, and its end names the failures", () => {
  const table = fleet({ forceContinue: true, failureThreshold: 0.5 });
  ends(table, T0 + 1, 1);
  expect(table.rollout()).toMatchObject({
    status: "completed",
    why: { code: "NOT_ALL_UPGRADED", text: "3 of 4 nodes were upgraded: 1 failed" },
  });
});

test("ROLL-12: a rollout that is forced at its last batch ends failed", () => {
  const table = fleet();
  ends(table, T0 + 1, 1);
  expect(table.rollout().status).toBe("paused");
  table.signal("force");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "failed", why: { code: "THRESHOLD_EXCEEDED" } });
});

test("ROLL-12: a rollout whose nodes all failed ends failed and says so, even where its threshold allows it", () => {
  const table = fleet({ failureThreshold: 1 });
  ends(table, T0 + 1, 4);
  expect(table.rollout()).toMatchObject({
    status: "failed",
    why: { code: "NOTHING_UPGRADED", text: "none of 4 nodes was upgraded: 4 failed" },
  });
});

test("ROLL-12: a rollout whose nodes were all skipped ends failed and says so", () => {
  const table = createRolloutTable({ nodes: 2, batchSize: 1 });
  for (const { nodeId } of table.nodes) table.signal("skip", null, nodeId);
  table.signal("start");
  table.advance(T0);
  expect(table.rollout()).toMatchObject({
    status: "failed",
    why: { code: "NOTHING_UPGRADED", text: "none of 2 nodes was upgraded: 2 skipped" },
  });
});

test("ROLL-12: a rollout with failures within its threshold and a skipped node completes and names both", () => {
  const table = createRolloutTable({ nodes: 5, batchSize: 5, healthWaitMs: 0, failureThreshold: 0.25 });
  table.signal("skip", null, table.nodes[0]!.nodeId);
  table.signal("start");
  table.advance(T0);
  ends(table, T0 + 1, 1);
  expect(table.rollout()).toMatchObject({
    status: "completed",
    why: { code: "NOT_ALL_UPGRADED", text: "3 of 5 nodes were upgraded: 1 failed, 1 skipped" },
  });
});

test("ROLL-12: a rollout that upgraded every node completes without a reason", () => {
  const table = fleet();
  ends(table, T0 + 1, 0);
  expect(table.rollout()).toMatchObject({ status: "completed", why: null });
});

const BREAKING = { migrationType: "breaking", recoveryPlan: "reprovision", strategy: "canary" } as const;

test("ROLL-12: a breaking migration whose canary is the whole fleet waits for the approval before it completes", () => {
  const table = fleet({ canarySize: 4, ...BREAKING });
  ends(table, T0 + 1, 0);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "CANARY_APPROVAL" } });
  table.signal("resume");
  table.signal("force");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "CANARY_APPROVAL" } });
  table.signal("approve_canary");
  table.advance(T0 + 3);
  expect(table.rollout()).toMatchObject({ status: "completed", canaryApprovedBy: "ann" });
});

test("ROLL-12: a whole-fleet canary with a failure that was gone on from is not approved by the resume", () => {
  const table = fleet({ canarySize: 4, failureThreshold: 1, ...BREAKING });
  ends(table, T0 + 1, 1);
  expect(table.rollout()).toMatchObject({ why: { code: "CANARY_FAILED" } });
  table.signal("resume");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "CANARY_APPROVAL" } });
});

test("ROLL-12: a whole-fleet canary that failed on every node has nothing to approve, and ends failed", () => {
  const table = fleet({ canarySize: 4, ...BREAKING });
  ends(table, T0 + 1, 4);
  table.signal("resume");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "failed", why: { code: "NOTHING_UPGRADED" } });
});
