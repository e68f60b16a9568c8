import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import {
  atWork,
  COMPLETED,
  everyoneReports,
  FAILED,
  FAILED_ROLLBACK,
  goesBackWell,
  refused,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";

const GRACE = LIMITS.healthHeartbeatGraceMs;
const INSTALLED = T0 + 1000;
const DUE = INSTALLED + 60_000;

/** One node of two is installed and says it is critical at the end of the wait. */
function oneUnhealthy(changes: Parameters<typeof started>[0] = { nodes: 2, batchSize: 2 }): RolloutTable {
  const table = started({ failureThreshold: 1, ...changes });
  everyoneReports(table, INSTALLED);
  const [first, ...rest] = atWork(table);
  table.heartbeat(first!, DUE - 1, { applicationHealth: "critical" });
  for (const nodeId of rest) table.heartbeat(nodeId, DUE - 1);
  table.advance(DUE);
  return table;
}

test("SNAP-17: a health wait that a clock dated ahead ends within its own length after the correction", () => {
  const AHEAD_MS = 12 * 3_600_000;
  const table = started({ nodes: 1, batchSize: 1 });
  everyoneReports(table, INSTALLED + AHEAD_MS);
  expect(table.rollout().healthUntil).toBe(DUE + AHEAD_MS);
  const [node] = atWork(table);
  table.nodes[0]!.installedAt = INSTALLED; // as src/server/clock/dated-ahead.ts mends it
  table.advance(INSTALLED);
  expect(table.rollout().healthUntil).toBe(DUE);
  expect(table.wakeAt()).toBe(DUE);
  table.heartbeat(node!, DUE - 1);
  table.advance(DUE - 1);
  expect(table.statuses()).toEqual(["in_progress"]);
  table.advance(DUE);
  expect(table.statuses()).toEqual(["succeeded"]);
});

test("health is looked at once for the batch, when the wait after its last node is over (ROLL-15)", () => {
  const table = started({ nodes: 2, batchSize: 2 });
  const [first, second] = atWork(table);
  table.report(first!, INSTALLED - 500, COMPLETED);
  table.advance(INSTALLED - 500);
  expect(table.nodes[0]).toMatchObject({
    phase: "VERIFYING",
    progressPct: 100,
    installedAt: INSTALLED - 500,
  });
  expect(table.rollout().healthUntil).toBeNull();
  table.report(second!, INSTALLED, COMPLETED);
  table.advance(INSTALLED);
  expect(table.rollout().healthUntil).toBe(DUE);
  for (const nodeId of [first!, second!]) table.heartbeat(nodeId, DUE - 1);
  table.advance(DUE - 1);
  expect(table.statuses()).toEqual(["in_progress", "in_progress"]);
  table.advance(DUE);
  expect(table.statuses()).toEqual(["succeeded", "succeeded"]);
});

test("a node is waited for until the grace for its heartbeat is over, and then is unhealthy", () => {
  const table = started({ nodes: 2, batchSize: 2 });
  everyoneReports(table, INSTALLED);
  const [silent, late] = atWork(table);
  for (const nodeId of [silent!, late!]) table.heartbeat(nodeId, T0 + 1);
  table.advance(DUE);
  expect(table.commands.length).toBe(2);
  table.heartbeat(late!, DUE + 1000);
  table.advance(DUE + 1000);
  expect(table.statuses()).toEqual(["in_progress", "succeeded"]);
  table.advance(DUE + GRACE - 1);
  expect(table.commands.length).toBe(2);
  table.advance(DUE + GRACE);
  expect(table.nodes[0]).toMatchObject({ direction: "reverse", errorCode: "HEALTH_NO_HEARTBEAT" });
});

test("a node that falls silent during the wait is not healthy by what it said at its start", () => {
  const table = started({ nodes: 1, batchSize: 1 });
  everyoneReports(table, INSTALLED); // says it is well, and is never heard again
  table.advance(DUE);
  expect(table.statuses()).toEqual(["in_progress"]);
  table.advance(DUE + GRACE);
  expect(table.nodes[0]).toMatchObject({ direction: "reverse", errorCode: "HEALTH_NODE_DOWN" });
});

test("an unhealthy node is put back by itself, once, while its neighbours stay (ROLL-14)", () => {
  const table = oneUnhealthy();
  expect(table.statuses()).toEqual(["in_progress", "succeeded"]);
  expect(table.commands.slice(2)).toMatchObject([
    { nodeId: table.nodes[0]!.nodeId, direction: "reverse", attempt: 1 },
  ]);
  expect(table.nodes[0]).toMatchObject({ phase: "PREPARING", errorCode: "HEALTH_CRITICAL", progressPct: 0 });
  table.advance(DUE + GRACE);
  expect(table.commands.length).toBe(3);
});

test.each([
  ["the intent allows no way back", { rollbackAllowed: false }, false],
  ["nothing is known of what it ran before", {}, true],
])(
  "an unhealthy node stays on the new version when %s, and the next rollout knows it",
  (_, changes, unknown) => {
    const table = started({ failureThreshold: 1, nodes: 1, batchSize: 1, ...changes });
    if (unknown) table.nodes[0]!.previous = null;
    everyoneReports(table, INSTALLED);
    table.heartbeat(atWork(table)[0]!, DUE - 1, { applicationHealth: "critical" });
    table.advance(DUE);
    expect(table.nodes[0]).toMatchObject({
      status: "failed",
      stands: "target",
      errorCode: "HEALTH_CRITICAL",
    });
    expect(table.commands.length).toBe(1);
  },
);

test("a node that is back on its previous version counts as failed, and says why", () => {
  const table = oneUnhealthy();
  goesBackWell(table, DUE + 10);
  expect(table.nodes[0]).toMatchObject({
    status: "failed",
    stands: "previous",
    phase: null,
    errorCode: "HEALTH_CRITICAL",
  });
  expect(table.nodes[0]!.errorMessage).toBe("the program's probe is refused; the previous version is back");
  expect(table.rollout().status).toBe("completed"); // the threshold here is 1
});

test.each([
  ["fails", FAILED, "ACTION_TIMEOUT"],
  ["cannot be compensated", FAILED_ROLLBACK, "COMPENSATION_FAILED"],
  ["is refused by the node", refused("INTENT_EXPIRED"), "INTENT_EXPIRED"],
])("a reverse that %s leaves the node in failed_rollback", (_, body, errorCode) => {
  const table = oneUnhealthy();
  everyoneReports(table, DUE + 10, body);
  expect(table.nodes[0]).toMatchObject({ status: "failed_rollback", errorCode });
});

test("a reverse that is never answered ends in failed_rollback too", () => {
  const table = oneUnhealthy();
  table.advance(DUE + 3_600_000);
  expect(table.nodes[0]).toMatchObject({ status: "failed_rollback", errorCode: "TIMEOUT" });
});

test("where the intent allows no rollback an unhealthy node is failed where it stands", () => {
  const table = oneUnhealthy({ nodes: 2, batchSize: 2, rollbackAllowed: false });
  expect(table.statuses()).toEqual(["failed", "succeeded"]);
  expect(table.nodes[0]).toMatchObject({ direction: "forward", errorCode: "HEALTH_CRITICAL" });
  expect(table.commands.length).toBe(2);
});

test("the next batch waits for a reverse, and failed health pauses like any other failure", () => {
  const table = oneUnhealthy({ nodes: 4, batchSize: 2, failureThreshold: 0 });
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 0 });
  goesBackWell(table, DUE + 10);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "THRESHOLD_EXCEEDED" } });
  expect(table.statuses()).toEqual(["failed", "succeeded", "pending", "pending"]);
});

test("ROLL-15: with the signed window closed an unhealthy node is left as failed, and can be retried", () => {
  const table = oneUnhealthy({ nodes: 2, batchSize: 2, intentNotAfter: DUE });
  expect(table.nodes[0]).toMatchObject({ status: "failed", errorCode: "HEALTH_CRITICAL" });
  expect(table.commands).toHaveLength(2);
});
