// What a person must look at (ROLL-16, ROLL-19).
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import type { HealthFacts } from "../../../src/core/rollout/health.ts";
import type { TableWish } from "../../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";
import {
  COMPLETED,
  everyoneReports,
  FAILED,
  FAILED_ROLLBACK,
  goesBackWell,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

const DUE = T0 + 60_001;
const PLAN = "restore the state from last night, then reprovision";

/** One node, installed and unhealthy at the end of its wait, sent back, and reporting so. */
function wentBack(forward: Partial<HealthFacts>, changes: Partial<TableWish> = {}): RolloutTable {
  const table = started({ nodes: 1, batchSize: 1, ...changes });
  everyoneReports(table, T0 + 1);
  table.heartbeat(table.nodes[0]!.nodeId, DUE, forward);
  table.advance(DUE);
  expect(table.nodes[0]!.direction).toBe("reverse");
  return table;
}

test("ROLL-16: a crash loop after the way back of a breaking migration is critical and bears the recovery plan", () => {
  const table = wentBack(
    { restarts: 4 },
    { migrationType: "breaking", recoveryPlan: PLAN, strategy: "rolling" },
  );
  everyoneReports(table, DUE + 1);
  table.heartbeat(table.nodes[0]!.nodeId, DUE + 60_001, { restarts: 3 });
  table.advance(DUE + 60_001);
  expect(table.nodes[0]).toMatchObject({
    status: "failed_rollback",
    stands: "previous",
    errorCode: "HEALTH_CRASH_LOOP",
    facts: { nodeState: "degraded" },
  });
  expect(table.incidents).toMatchObject([
    {
      category: "upgrade_failed",
      severity: "critical",
      nodeId: table.nodes[0]!.nodeId,
      title: "the previous version crashes again and again: it may not read the new state",
      recoveryPlan: PLAN,
      detail: { error_code: "HEALTH_CRASH_LOOP", crash_loop_after_rollback: true, direction: "reverse" },
    },
  ]);
});

test("ROLL-16: two restarts are no crash loop, and a tier below bears no plan", () => {
  const well = wentBack({ restarts: 4 }, { migrationType: "breaking", recoveryPlan: PLAN });
  everyoneReports(well, DUE + 1);
  well.heartbeat(well.nodes[0]!.nodeId, DUE + 60_001, { restarts: 2 });
  well.advance(DUE + 60_001);
  expect(well.nodes[0]!.status).toBe("failed");
  expect(well.incidents).toEqual([]);

  const compatible = wentBack({ restarts: 4 }, { migrationType: "compatible", recoveryPlan: PLAN });
  everyoneReports(compatible, DUE + 1);
  compatible.heartbeat(compatible.nodes[0]!.nodeId, DUE + 60_001, { restarts: 3 });
  compatible.advance(DUE + 60_001);
  expect(compatible.incidents).toMatchObject([{ category: "upgrade_failed", recoveryPlan: null }]);
});

test("ROLL-19: an upgrade whose compensation failed is critical, one that was compensated is no incident", () => {
  const stuck = started({ nodes: 1, batchSize: 1 });
  everyoneReports(stuck, T0 + 1, FAILED_ROLLBACK);
  expect(stuck.incidents).toMatchObject([
    {
      category: "upgrade_failed",
      severity: "critical",
      title: "an upgrade failed and so did its compensation",
    },
  ]);
  const compensated = started({ nodes: 1, batchSize: 1 });
  everyoneReports(compensated, T0 + 1, FAILED);
  expect(compensated.incidents).toEqual([]);
});

test("ROLL-19: a node that goes back and is well is no incident", () => {
  const table = wentBack({ applicationHealth: "critical" });
  goesBackWell(table, DUE + 1);
  expect(table.nodes[0]!.status).toBe("failed");
  expect(table.incidents).toEqual([]);
});

test("ROLL-19: a way back that nobody answers is critical", () => {
  const table = wentBack({ applicationHealth: "critical" });
  table.advance(DUE + 3_600_000);
  expect(table.nodes[0]).toMatchObject({
    status: "failed_rollback",
    errorCode: "TIMEOUT",
    stands: "unknown",
  });
  expect(table.incidents).toMatchObject([{ category: "upgrade_failed" }]);
});

test("ROLL-19: a node that stalls is a warning", () => {
  const table = wentBack({ syncStatus: "stalled" });
  expect(table.incidents).toMatchObject([
    { category: "upgrade_stalled", severity: "warning", detail: { error_code: "HEALTH_STALLED" } },
  ]);
});

test("ROLL-19: a node that shows life after its start and then falls silent is a warning; one that never does is none", () => {
  const alive = started({ nodes: 1, batchSize: 1 });
  alive.report(alive.nodes[0]!.nodeId, T0 + 1, COMPLETED);
  alive.heartbeat(alive.nodes[0]!.nodeId, T0 + 2);
  alive.advance(T0 + 2);
  const due = alive.rollout().healthUntil!;
  alive.advance(due);
  expect(alive.incidents).toEqual([]); // still within the grace for its heartbeat
  alive.advance(due + LIMITS.healthHeartbeatGraceMs);
  expect(alive.incidents).toMatchObject([
    { category: "upgrade_stalled", severity: "warning", detail: { error_code: "HEALTH_NODE_DOWN" } },
  ]);

  const silent = started({ nodes: 1, batchSize: 1 });
  silent.report(silent.nodes[0]!.nodeId, T0 + 1, COMPLETED);
  silent.advance(T0 + 1);
  silent.advance(T0 + 60_001 + LIMITS.healthHeartbeatGraceMs);
  expect(silent.nodes[0]).toMatchObject({ errorCode: "HEALTH_NO_HEARTBEAT" });
  expect(silent.incidents).toEqual([]);
});
