/** What must hold when nothing is left to happen: rows against machines. */
import { isActive } from "../../src/core/rollout/states.ts";
import type { NodeRow } from "../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../support/rollouts/rollout-table.ts";
import type { Machine } from "./machine.ts";
import { holds } from "./violation.ts";

export function checkEnd(
  table: RolloutTable,
  machines: ReadonlyMap<string, Machine>,
  isNewest: boolean,
): void {
  ended(table);
  for (const node of table.nodes) {
    if (isNewest) matchesMachine(table, node, machines.get(node.nodeId)!);
    compensated(table, node);
  }
}

function ended(table: RolloutTable): void {
  const rule = "everything ends or waits for a person";
  const { status, why } = table.rollout();
  holds(!table.statuses().includes("in_progress"), rule, "a node is still at work");
  if (!isActive(status)) {
    const open = table.statuses().filter((each) => each === "pending");
    holds(open.length === 0, rule, `${open.length} nodes are pending in a ${status} rollout`);
    return;
  }
  const waits =
    status === "pending" ||
    status === "paused" ||
    (status === "rolling_back" && why?.code === "INTENT_EXPIRED");
  holds(waits, rule, `the rollout is ${status}, ${why?.code ?? "for no reason"}`);
  if (status === "paused") holds(why !== null, rule, "a pause says why");
}

function matchesMachine(table: RolloutTable, node: NodeRow, machine: Machine): void {
  const rule = "every node ends in the state of its machine";
  const installed = machine.installed();
  const expected = {
    pending: [node.previous],
    skipped: [node.previous],
    succeeded: [node.target],
    rolled_back: [node.previous],
    failed: node.stands === "unknown" ? null : [node.stands === "target" ? node.target : node.previous],
    failed_rollback: null,
    in_progress: [],
  }[node.status];
  const fits = expected === null || (expected as readonly unknown[]).includes(installed);
  holds(fits, rule, `${node.nodeId} is ${node.status} (${node.stands}) on ${String(installed)}`);
  const { nodeState } = node.facts;
  const isFree =
    node.stands === "unknown" || node.status === "failed_rollback" || nodeState !== "maintenance";
  holds(isFree, rule, `${node.nodeId} is ${node.status} in maintenance`);
  holds(node.phase === null || node.status === "pending", rule, "a settled node has no phase");
  void table;
}

function compensated(table: RolloutTable, node: NodeRow): void {
  const rule = "every compensation is complete or an incident";
  const critical = table.incidents.filter(
    ({ nodeId, severity }) => nodeId === node.nodeId && severity === "critical",
  );
  if (node.status === "failed_rollback") {
    holds(critical.length > 0, rule, `${node.nodeId} is failed_rollback without an incident`);
    const { migrationType, recoveryPlan } = table.rollout();
    const plan = migrationType === "breaking" ? recoveryPlan : null;
    holds(
      critical.every((each) => each.recoveryPlan === plan),
      rule,
      "the recovery plan is missing",
    );
  }
  if (node.status !== "failed") return;
  holds(node.errorCode !== null, rule, "a failure says why");
  const stays = node.stands === "target";
  const isTold = critical.length > 0; // its window was closed when it should have gone back
  const mayStay = !table.rollout().rollbackAllowed || node.previous === null || isTold;
  holds(!stays || mayStay, rule, `${node.nodeId} was left on the target`);
}
