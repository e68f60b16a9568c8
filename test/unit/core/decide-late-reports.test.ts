// Reports that come twice, late, out of order or from elsewhere.
import { expect, test } from "vitest";
import { CommandId, NodeId } from "../../../src/core/ids.ts";
import type { RolloutDecision } from "../../../src/core/rollout/decision.ts";
import {
  atWork,
  COMPLETED,
  everyoneReports,
  FAILED,
  FAILED_ROLLBACK,
} from "../../support/rollouts/scenes.ts";
import { progress, refused, started, T0 } from "../../support/rollouts/scenes.ts";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";

const FOREIGN = CommandId.parse("99999999-0000-4000-8000-000000000000");
const fleet = () => started({ nodes: 2, batchSize: 2, failureThreshold: 1 });

function changesNothing(table: RolloutTable, now: number): RolloutDecision {
  const before = structuredClone([table.rollout(), table.nodes]);
  const decision = table.advance(now);
  expect(decision).toMatchObject({ nodes: [], launches: [], launchBatch: null });
  expect(decision.events.filter(({ kind }) => kind !== "node.report")).toEqual([]);
  expect(structuredClone([table.rollout(), table.nodes])).toEqual(before);
  return decision;
}

test.each([
  [
    "of another command",
    (table: RolloutTable) => table.report(atWork(table)[0]!, T0 + 5, COMPLETED, FOREIGN),
  ],
  [
    "of a node in a later batch",
    (table: RolloutTable) => table.report(table.nodes[2]!.nodeId, T0 + 5, COMPLETED, FOREIGN),
  ],
  [
    "of a node that is not in the rollout",
    (table: RolloutTable) => table.report(NodeId.parse(FOREIGN), T0 + 5, COMPLETED, FOREIGN),
  ],
])("a report %s changes nothing, and is answered with why not", (_, send) => {
  const table = started({ nodes: 3, batchSize: 2 });
  send(table);
  const { answeredReports } = changesNothing(table, T0 + 5);
  expect(answeredReports).toHaveLength(1);
  expect(["superseded", "unknown_node"]).toContain(answeredReports[0]!.outcome);
});

test("after its verdict no report of the same command moves a node: not a repetition, not progress, not another verdict", () => {
  const table = fleet();
  everyoneReports(table, T0 + 10);
  const [first] = atWork(table);
  for (const body of [COMPLETED, progress(2), FAILED, FAILED_ROLLBACK, refused("COMMAND_REPLAYED")]) {
    table.report(first!, T0 + 20, body);
    expect(changesNothing(table, T0 + 20).answeredReports).toMatchObject([{ outcome: "repeated" }]);
  }
  expect(table.nodes[0]).toMatchObject({ installedAt: T0 + 10 });
});

test("the forward command's verdict does not answer for the reverse", () => {
  const table = started({ nodes: 1, batchSize: 1, healthWaitMs: 0 });
  const forward = table.nodes[0]!.commandId!;
  const [first] = atWork(table);
  table.report(first!, T0 + 1, COMPLETED);
  table.heartbeat(first!, T0 + 1, { syncStatus: "stalled" });
  table.advance(T0 + 1);
  expect(table.nodes[0]!.direction).toBe("reverse");
  table.report(first!, T0 + 2, COMPLETED, forward);
  changesNothing(table, T0 + 2);
});

test("reports read in one step are taken in their order", () => {
  const table = fleet();
  const [first] = atWork(table);
  table.report(first!, T0 + 1, progress(3));
  table.report(first!, T0 + 2, COMPLETED);
  table.report(first!, T0 + 3, progress(7));
  table.advance(T0 + 3);
  expect(table.nodes[0]).toMatchObject({
    phase: "VERIFYING",
    actionName: null,
    progressPct: 100,
    installedAt: T0 + 2,
  });
});
