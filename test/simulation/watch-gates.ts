/** What must hold whenever a batch begins: the gate before it was open, and its threshold not passed. */
import type { NodeId } from "../../src/core/ids.ts";
import type { RolloutDecision } from "../../src/core/rollout/decision.ts";
import { isOnTarget } from "../../src/core/rollout/draft.ts";
import { isSettled } from "../../src/core/rollout/states.ts";
import type { NodeRow } from "../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../support/rollouts/rollout-table.ts";
import { holds } from "./violation.ts";

const failuresOf = (nodes: readonly NodeRow[]): number =>
  nodes.filter(
    ({ status, retryRequested }) => (status === "failed" || status === "failed_rollback") && !retryRequested,
  ).length;
const attemptedOf = (nodes: readonly NodeRow[]): number =>
  nodes.filter(({ status }) => status !== "pending" && status !== "skipped").length;

export interface Step {
  readonly batchBefore: number;
  readonly before: readonly NodeRow[];
  readonly commandsBefore: number;
  readonly table: RolloutTable;
  readonly decision: RolloutDecision;
  /** It was given up, and its verdict or refusal is read by this step. */
  readonly isLate: (node: NodeRow) => boolean;
  readonly now: number;
}

export function gatesHold(step: Step): void {
  const { table, decision, now } = step;
  const { launchBatch } = decision;
  batchHolds(step);
  if (launchBatch === null) return;
  const rule = "no batch before its gate";
  const rollout = table.rollout();
  const others = table.nodes.filter((node) => node.batchIndex !== launchBatch.index);
  holds(
    others.every(({ status }) => status !== "in_progress"),
    rule,
    "others are at work",
  );
  holds(rollout.intentNotAfter === null || now < rollout.intentNotAfter, rule, "the window is closed");
  if (launchBatch.part === "succeeded") {
    holds(rollout.status === "rolling_back" && rollout.rollbackAllowed, rule, "nobody may go back");
    const later = table.nodes.filter((node) => node.batchIndex > launchBatch.index);
    holds(
      later.every((node) => node.status !== "succeeded" || !isOnTarget(node)),
      rule,
      "a later batch is not back",
    );
    return;
  }
  const isRetrying = launchBatch.part === "retried" && rollout.why?.code === "RETRYING";
  holds(rollout.status === "running" || isRetrying, rule, `the rollout is ${rollout.status}`);
  holds(
    !rollout.cancelRequested && !rollout.pauseRequested && !rollout.rollbackRequested,
    rule,
    "it was called off",
  );
  const earlier = table.nodes.filter((node) => node.batchIndex < launchBatch.index);
  holds(
    earlier.every(({ status }) => isSettled(status)),
    rule,
    "an earlier batch is not settled",
  );
  const needsApproval = rollout.strategy === "canary" && rollout.migrationType === "breaking";
  if (needsApproval && launchBatch.index > 0)
    holds(rollout.canaryApprovedAt !== null, rule, "the canary is not approved");
  // A retry within the current batch opens no other one, nor does the rest of it.
  if (launchBatch.index !== step.batchBefore) thresholdHolds(step, launchBatch.index);
}

/** Nodes begin with their own batch, retries too: no batch ever has more nodes at work than it was cut into. */
function batchHolds({ before, table, isLate, decision: { launchBatch, nodes } }: Step): void {
  const rule = "no batch before its gate";
  /** This very step has settled it on the target. */
  const isFound = (id: NodeId): boolean =>
    nodes.some(({ nodeId, status, stands }) => nodeId === id && isSettled(status) && stands === "target");
  const taken = { pending: "pending", retried: "failed", succeeded: "succeeded" } as const;
  for (const [at, { nodeId, status, batchIndex }] of table.nodes.entries()) {
    const was = before[at]!;
    holds(batchIndex === was.batchIndex, rule, `${nodeId} changed its batch`);
    if (status !== "in_progress" || was.status === "in_progress") continue;
    const isTaken =
      taken[launchBatch?.part ?? "pending"] === was.status || isOnTarget(was) || isFound(nodeId);
    const isMeant = launchBatch?.index === batchIndex && isTaken;
    holds(isMeant || isLate(was), rule, `${nodeId} of batch ${batchIndex} was launched out of turn`);
  }
}

/** Looked at with every batch, so that no more than one batch can fail beyond it. */
function thresholdHolds({ before, table, decision }: Step, batch: number): void {
  const { failureThreshold, forceContinue } = table.rollout();
  if (forceContinue) return;
  // As the gate found them: what this very step began, or could not begin, came after it.
  const settled = table.nodes.map((node, index) => {
    const was = before[index]!;
    const began = node.status === "in_progress" && was.status !== "in_progress";
    // A retry that was asked for in this step took the failure back before the gate.
    if (began && was.status === "failed") return { ...was, retryRequested: true };
    return began || was.status === "pending" || was.retryRequested ? was : node;
  });
  const fresh = failuresOf(settled) - decision.rollout.acknowledgedFailures;
  const attempted = attemptedOf(settled);
  const rule = "the threshold is overshot by one batch at most";
  holds(
    fresh <= failureThreshold * attempted,
    rule,
    `batch ${batch} after ${fresh} of ${attempted} failures`,
  );
}
