/** What must hold between any two steps of a rollout. */
import { deepStrictEqual } from "node:assert";
import type { RolloutDecision } from "../../src/core/rollout/decision.ts";
import { isActive, isSettled } from "../../src/core/rollout/states.ts";
import type { NodeRow } from "../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../support/rollouts/rollout-table.ts";
import { holds } from "./violation.ts";

const failuresOf = (nodes: readonly NodeRow[]): number =>
  nodes.filter(({ status }) => status === "failed" || status === "failed_rollback").length;
const attemptedOf = (nodes: readonly NodeRow[]): number =>
  nodes.filter(({ status }) => status !== "pending" && status !== "skipped").length;

interface Step {
  readonly before: readonly NodeRow[];
  readonly commandsBefore: number;
  readonly table: RolloutTable;
  readonly decision: RolloutDecision;
  readonly now: number;
}

/** Advances the rollout once and looks at what the step did. */
export function watchedStep(table: RolloutTable): (now: number) => void {
  let last: number | null = null;
  let hasMore = false;
  return (now) => {
    const before = table.nodes.map((node) => ({ ...node }));
    const commandsBefore = table.commands.length;
    const rollout = table.rollout();
    const isIdle = last === now && !table.hasWork() && !hasMore;
    const applied = table.consumed.length;
    const decision = table.advance(now);
    const step = { before, commandsBefore, table, decision, now };
    if (isIdle) idle(decision);
    last = now;
    // A step does so much at most. What it left is for the next one, which it asks for.
    const { nodes, launchBatch, wakeAt } = decision;
    hasMore = (nodes.length > 0 || launchBatch !== null) && wakeAt === now + 1;
    const asked = table.consumed.slice(applied).filter((signal) => signal.applied);
    endsHold(
      step,
      rollout.status,
      asked.map(({ kind }) => kind),
    );
    gatesHold(step);
    observed(step);
    oneAtATime(step);
  };
}

function idle({ nodes, launches, launchBatch, events }: RolloutDecision): void {
  const quiet = nodes.length + launches.length + events.length === 0 && launchBatch === null;
  holds(quiet, "an idle step changes nothing", JSON.stringify({ nodes, launches, launchBatch, events }));
}

function endsHold({ before, table, decision }: Step, was: string, asked: readonly string[]): void {
  const rule = "an ended rollout stays ended, a settled node settled";
  const wasEnded = !isActive(was as Parameters<typeof isActive>[0]);
  const reopened = wasEnded && decision.rollout.status !== was;
  holds(!reopened || asked.includes("rollback"), rule, `${was} became ${decision.rollout.status}`);
  const retried = new Set(decision.launches.map(({ nodeId }) => nodeId));
  for (const [index, node] of before.entries()) {
    const now = table.nodes[index]!;
    if (!isSettled(node.status) || node.status === now.status) continue;
    const isRetry = node.status === "failed" && retried.has(node.nodeId) && asked.includes("retry");
    const isBack = node.status === "succeeded" && decision.launchBatch?.direction === "reverse";
    holds(isRetry || isBack, rule, `a ${node.status} node became ${now.status}`);
  }
}

function gatesHold(step: Step): void {
  const { table, decision, now } = step;
  const { launchBatch } = decision;
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
  if (launchBatch.direction === "reverse") {
    holds(rollout.status === "rolling_back" && rollout.rollbackAllowed, rule, "nobody may go back");
    const later = table.nodes.filter((node) => node.batchIndex > launchBatch.index);
    holds(
      later.every(({ status, previous }) => status !== "succeeded" || previous === null),
      rule,
      "a later batch is not back",
    );
    return;
  }
  holds(rollout.status === "running", rule, `the rollout is ${rollout.status}`);
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
  thresholdHolds(step, launchBatch.index);
}

/** Looked at with every batch, so that no more than one batch can fail beyond it. */
function thresholdHolds({ before, table, decision }: Step, batch: number): void {
  const { failureThreshold, forceContinue } = table.rollout();
  if (forceContinue) return;
  const settled = table.nodes.map((node, index) =>
    node.status === "in_progress" && before[index]!.status === "pending" ? before[index]! : node,
  );
  const fresh = failuresOf(settled) - decision.rollout.acknowledgedFailures;
  const attempted = attemptedOf(settled);
  const rule = "the threshold is overshot by one batch at most";
  holds(
    fresh <= failureThreshold * attempted,
    rule,
    `batch ${batch} after ${fresh} of ${attempted} failures`,
  );
}

/** A node that succeeded, or came back, was watched for its whole wait. */
function observed({ before, table, now }: Step): void {
  const { strategy, healthWaitMs, skipValidation } = table.rollout();
  for (const [index, node] of table.nodes.entries()) {
    if (node.status === before[index]!.status) continue;
    const isForward = node.status === "succeeded" && !skipValidation;
    if (!isForward && node.status !== "rolled_back") continue;
    const canary = isForward && strategy === "canary" && node.batchIndex === 0;
    const since = node.installedAt ?? Infinity;
    const wait = canary ? 2 * healthWaitMs : healthWaitMs;
    holds(
      now >= since + wait,
      "no batch before its gate",
      `${node.status} after ${now - since} of ${wait} ms`,
    );
  }
}

/** A node gets a command when it never had one, or when its last one has come to an end. */
function oneAtATime({ before, commandsBefore, table, decision }: Step): void {
  const rule = "a command once, one at a time";
  for (const { nodeId, direction } of table.commands.slice(commandsBefore)) {
    const was = before.find((node) => node.nodeId === nodeId)!;
    const reported = decision.nodes.some((patch) => patch.nodeId === nodeId);
    const free =
      direction === "forward"
        ? was.status === "pending" || was.status === "failed" || was.status === "in_progress"
        : was.status === "succeeded" || was.phase === "VERIFYING" || reported;
    holds(free, rule, `${direction} to a node that is ${was.status} ${was.phase ?? ""}`);
  }
  const keys = table.commands.map(({ nodeId, ...each }) => `${nodeId} ${each.direction} ${each.attempt}`);
  holds(new Set(keys).size === keys.length, rule, "an attempt was sent twice");
}

/** Deciding changes nothing by itself: the rows are as they were. */
export function decidedOnly(table: RolloutTable, now: number): void {
  const before = structuredClone({ nodes: table.nodes, rollout: table.rollout() });
  table.decideOnly(now);
  deepStrictEqual({ nodes: table.nodes, rollout: table.rollout() }, before);
}
