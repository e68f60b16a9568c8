/** What must hold when nothing moves any more, and when the last operator has settled what was left. */
import { isGivenUp } from "../../src/core/rollout/late.ts";
import { isActive, isSettled } from "../../src/core/rollout/states.ts";
import type { NodeRow } from "../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../support/rollouts/rollout-table.ts";
import { holds } from "./violation.ts";

/** Before the last operator comes. */
export function checkRest(table: RolloutTable): void {
  const rule = "everything ends or waits for a person";
  const { status, why } = table.rollout();
  holds(!table.statuses().includes("in_progress"), rule, "a node is still at work");
  if (!isActive(status)) return;
  const waits =
    status === "pending" ||
    status === "paused" ||
    (status === "rolling_back" && why?.code === "INTENT_EXPIRED");
  holds(waits, rule, `the rollout is ${status}, ${why?.code ?? "for no reason"}`);
  if (status === "paused") holds(why !== null && why.code !== "RETRYING", rule, "a pause says why");
}

/** After it: nothing is active, and no node is left in between. */
export function checkEnd(table: RolloutTable): void {
  const rule = "a person can bring everything to its end";
  const { status } = table.rollout();
  holds(!isActive(status), rule, `the rollout is still ${status}`);
  for (const node of table.nodes) {
    holds(isSettled(node.status), rule, `${node.nodeId} is ${node.status} in a ${status} rollout`);
    holds(node.phase === null, rule, `${node.nodeId} is ${node.status} and still ${node.phase ?? ""}`);
  }
}

export function checkCompensations(table: RolloutTable): void {
  for (const node of table.nodes) compensated(table, node);
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
  // Its window was closed when it should have gone back, or it came late; or only a heartbeat told where it stands, and
  // perhaps a retry began from there.
  const isFound = isGivenUp(node) || node.errorCode === "NODE_STEP_FAILED" || node.attempt > 1;
  const isTold = critical.length > 0 || isFound;
  const mayStay = !table.rollout().rollbackAllowed || node.previous === null || isTold;
  holds(!stays || mayStay, rule, `${node.nodeId} was left on the target`);
}
