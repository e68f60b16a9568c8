/** What must hold between any two steps of a rollout. */
import { deepStrictEqual } from "node:assert";
import type { RolloutDecision } from "../../src/core/rollout/decision.ts";
import { LIMITS } from "../../src/core/limits.ts";
import { isOnTarget } from "../../src/core/rollout/draft.ts";
import type { ErrorCode } from "../../src/core/error-codes.ts";
import { GIVEN_UP_CODES, isGivenUp } from "../../src/core/rollout/late.ts";
import type { ReportRow } from "../../src/core/rollout/rows.ts";
import { isActive, isSettled } from "../../src/core/rollout/states.ts";
import type { NodeRow } from "../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../support/rollouts/rollout-table.ts";
import { holds } from "./violation.ts";
import { gatesHold, type Step } from "./watch-gates.ts";

/** Advances the rollout once and looks at what the step did. `slackMs`: a corrected clock shortens a wait by so much at most. */
export function watchedStep(table: RolloutTable, slackMs = 0): (now: number) => void {
  let last: number | null = null;
  let hasMore = false;
  /** Commands whose verdict was there to be read. */
  const heard = new Set<string | null>();
  return (now) => {
    const before = table.nodes.map((node) => ({ ...node }));
    const commandsBefore = table.commands.length;
    const rollout = table.rollout();
    const isIdle = last === now && !table.hasWork() && !hasMore;
    const applied = table.consumed.length;
    for (const { commandId, body } of table.unreadReports())
      if (body.kind === "verdict") heard.add(commandId);
    const unread = table.unreadReports();
    const late = new Set(unread.map(({ commandId }) => commandId));
    const held = new Set(unread.filter(isFailedWayBack).map(({ nodeId }) => nodeId));
    const decision = table.advance(now);
    const isLate = (node: NodeRow): boolean =>
      isGivenUp(node) && (late.has(node.commandId!) || held.has(node.nodeId));
    const batchBefore = rollout.currentBatch;
    const step = { before, batchBefore, commandsBefore, table, decision, isLate, now };
    if (isIdle) idle(decision);
    last = now;
    // A step does so much at most. What it left is for the next one, which it asks for.
    const { nodes, launchBatch } = decision;
    const didSomething = nodes.length > 0 || launchBatch !== null || decision.retries.length > 0;
    hasMore = didSomething && table.wakeAt() === now + 1;
    const asked = table.consumed.slice(applied).filter((signal) => signal.applied);
    gatesHold(step);
    endsHold(
      step,
      rollout.status,
      asked.map(({ kind }) => kind),
    );
    if (rollout.status !== decision.rollout.status) endingHolds(table);
    observed(step, slackMs);
    oneAtATime(step);
    givenUp(step, heard);
    if (rollout.status !== "rolled_back" && decision.rollout.status === "rolled_back") allBack(table);
  };
}

/** A failed way back counts whichever attempt of its node reported it. */
const isFailedWayBack = ({ body }: ReportRow): boolean =>
  body.kind === "verdict" && body.verdict === "FAILED_ROLLBACK";

function idle({ nodes, launches, launchBatch, events }: RolloutDecision): void {
  const quiet = nodes.length + launches.length + events.length === 0 && launchBatch === null;
  holds(quiet, "an idle step changes nothing", JSON.stringify({ nodes, launches, launchBatch, events }));
}

function endsHold({ before, table, decision, isLate }: Step, was: string, asked: readonly string[]): void {
  const rule = "an ended rollout stays ended, a settled node settled";
  const wasEnded = !isActive(was as Parameters<typeof isActive>[0]);
  const reopened = wasEnded && decision.rollout.status !== was;
  holds(!reopened || asked.includes("rollback"), rule, `${was} became ${decision.rollout.status}`);
  const isFound = (id: string): boolean =>
    decision.nodes.some(({ nodeId, stands }) => nodeId === id && stands === "target");
  for (const [index, node] of before.entries()) {
    const now = table.nodes[index]!;
    if (!isSettled(node.status) || node.status === now.status) continue;
    const isAsked = node.retryRequested || asked.includes("retry");
    const isRetry = isAsked && decision.launchBatch?.part === "retried";
    const isBack = decision.launchBatch?.part === "succeeded" && (isOnTarget(node) || isFound(node.nodeId));
    holds(isRetry || isBack || isLate(node), rule, `a ${node.status} node became ${now.status}`);
  }
}

/** Only what went well is `completed`: scripts, and the gates of groups, go on from there. */
function endingHolds(table: RolloutTable): void {
  const rule = "an ending says what happened";
  const { status, why, failureThreshold, strategy, migrationType, canaryApprovedAt } = table.rollout();
  if (isActive(status)) return;
  const count = (...statuses: readonly string[]): number =>
    table.nodes.filter((node) => statuses.includes(node.status)).length;
  const [succeeded, failed] = [count("succeeded"), count("failed", "failed_rollback")];
  holds(why !== null || succeeded === table.nodes.length, rule, `${status} without a reason`);
  if (status !== "completed") return;
  holds(succeeded > 0, rule, "completed, and nothing was upgraded");
  const attempted = table.nodes.length - count("skipped");
  holds(failed <= failureThreshold * attempted, rule, `completed with ${failed} of ${attempted} failed`);
  const needsApproval = strategy === "canary" && migrationType === "breaking";
  holds(!needsApproval || canaryApprovedAt !== null, rule, "completed without its approval");
}

/** A node that succeeded, or came back, was watched for its whole wait; not one that is late for its batch. */
function observed({ before, table, isLate, now }: Step, slackMs: number): void {
  const { strategy, healthWaitMs, skipValidation } = table.rollout();
  for (const [index, node] of table.nodes.entries()) {
    if (node.status === before[index]!.status) continue;
    const isForward = node.status === "succeeded" && !skipValidation;
    if (!isForward && node.status !== "rolled_back") continue;
    if (isLate(before[index]!)) continue;
    const canary = isForward && strategy === "canary" && node.batchIndex === 0;
    const since = node.installedAt ?? Infinity;
    const wait = canary ? 2 * healthWaitMs : healthWaitMs;
    holds(
      now + slackMs >= since + wait,
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
        : isOnTarget(was) || was.phase === "VERIFYING" || reported;
    holds(free, rule, `${direction} to a node that is ${was.status} ${was.phase ?? ""}`);
  }
  const keys = table.commands.map(({ nodeId, ...each }) => `${nodeId} ${each.direction} ${each.attempt}`);
  holds(new Set(keys).size === keys.length, rule, "an attempt was sent twice");
}

/** None is given up whose verdict was there to be read, and none that could not have been heard. */
function givenUp({ before, table, decision, now }: Step, heard: ReadonlySet<string | null>): void {
  for (const { nodeId, stands, errorCode } of decision.nodes) {
    if (stands !== "unknown" || !GIVEN_UP_CODES.includes(errorCode as ErrorCode)) continue;
    const { commandId, status } = before.find((node) => node.nodeId === nodeId)!;
    if (status !== "in_progress") continue; // it was given up by an earlier step
    const rule = "every node ends in the state of its machine";
    holds(!heard.has(commandId), rule, `${nodeId} was given up although it had answered`);
    const heardMs = now - table.availableSince();
    const couldBeHeard = errorCode === "GIVEN_UP" || heardMs >= LIMITS.reconnectGraceMs;
    holds(couldBeHeard, "no node is given up before it could reconnect", `${nodeId} had ${heardMs} ms`);
  }
}

function allBack({ nodes }: RolloutTable): void {
  const left = nodes.filter((node) => isOnTarget(node) && node.assigned);
  holds(left.length === 0, "a rollback leaves no node on the target", `${left.length} run it`);
}

/** Deciding changes nothing by itself: the rows are as they were. */
export function decidedOnly(table: RolloutTable, now: number): void {
  const before = structuredClone({ nodes: table.nodes, rollout: table.rollout() });
  table.decideOnly(now);
  deepStrictEqual({ nodes: table.nodes, rollout: table.rollout() }, before);
}
