/**
 * Nodes that were given up, and then say or show where they stand (ROLL-29).
 *
 * 1. A node of the current batch that completed late is observed with its batch, like any other.
 * 2. One of a batch that is over, or of a rollout that has ended, is judged by its newest heartbeat; the ending stays.
 * 3. A heartbeat tells which version runs, and nothing about the upgrade: the record changes, the failure stays.
 */
import type { ErrorCode } from "../error-codes.ts";
import { LIMITS } from "../limits.ts";
import type { NodePatch } from "./decision.ts";
import type { Draft, DraftNode } from "./draft.ts";
import { judgeHealth } from "./health.ts";
import { incidentOfLateFailure } from "./incidents.ts";
import { isActive } from "./states.ts";

/** Failures without a word of the node: its verdict may still come. */
export const GIVEN_UP_CODES: readonly ErrorCode[] = ["TIMEOUT", "NODE_SILENT", "GIVEN_UP"];

/** One that was given up while its health was observed has said its word before. */
export const isGivenUp = ({ status, errorCode, installedAt }: Ended): boolean =>
  (status === "failed" || status === "failed_rollback") &&
  installedAt === null &&
  errorCode !== null &&
  (GIVEN_UP_CODES as readonly string[]).includes(errorCode);

type Ended = Pick<NodePatch, "status" | "errorCode" | "stands" | "installedAt">;

const NO_ERROR = { errorCode: null, errorMessage: null } as const;

export function completedLate(draft: Draft, node: DraftNode, at: number, now: number): void {
  const { rollout } = draft;
  const isForward = node.direction === "forward";
  const done = { installedAt: at, actionName: null, progressPct: 100, ...NO_ERROR } as const;
  const goesBack = rollout.status === "rolling_back" || rollout.status === "rolled_back";
  if (isForward && (goesBack || (rollout.skipValidation && isActive(rollout.status))))
    return draft.change(node, { ...done, status: "succeeded", stands: "target" });
  if (!isActive(rollout.status) || node.batchIndex !== rollout.currentBatch)
    return judgeLate(draft, node, done, now); // (2)
  if (isForward) rollout.healthUntil = null;
  return draft.change(node, { ...done, status: "in_progress", phase: "VERIFYING", stands: null }); // (1)
}

function judgeLate(draft: Draft, node: DraftNode, done: Partial<DraftNode>, now: number): void {
  const isForward = node.direction === "forward";
  const stands = isForward ? "target" : "previous";
  const wait = { startedAt: 0, due: now, availableSince: -Infinity };
  const expected = isForward ? node.target : node.previous!;
  const verdict = judgeHealth(node.facts, wait, expected, now + LIMITS.healthHeartbeatGraceMs);
  const wasAsked = draft.rollout.status === "rolling_back" || draft.rollout.status === "rolled_back";
  if (verdict.kind === "healthy" && (isForward || wasAsked))
    return draft.change(node, { ...done, status: isForward ? "succeeded" : "rolled_back", stands });
  const status = isForward || !wasAsked ? "failed" : "failed_rollback";
  const reason = verdict.kind === "unhealthy" ? verdict.reason : "the previous version is back";
  const code = verdict.kind === "unhealthy" ? verdict.code : "DEADLINE_PASSED";
  const error = { code, text: `completed after it was given up: ${reason}` };
  draft.change(node, { ...done, status, stands }, error);
  if (isForward) draft.incidents.push(incidentOfLateFailure(draft.rollout, node));
}

const FOUND = /; it runs the (new|previous) version$/;

/** (3) */
export function settleMeasured(draft: Draft): void {
  for (const node of draft.nodes.values()) {
    const stands = standsByHeartbeat(node);
    if (stands === null) continue;
    node.recorded = node.measured;
    const version = stands === "target" ? "new" : "previous";
    const why = (node.errorMessage ?? "no reason given").replace(FOUND, "");
    const text = `${why}; it runs the ${version} version`;
    draft.change(node, { stands }, { code: node.errorCode ?? "TIMEOUT", text });
  }
}

/**
 * Null where nothing new is known: where the node has answered, where a later rollout has changed it, where it runs
 * anything else. One that was given up is followed until its verdict comes: it may still be at work.
 */
export function standsByHeartbeat(
  node: Ended & Pick<DraftNode, "assigned" | "measured" | "target" | "previous">,
): "target" | "previous" | null {
  const { stands, assigned, measured, target, previous } = node;
  if (!isOpen(node) || !assigned || measured === null || target === previous) return null;
  const found = measured === target ? "target" : measured === previous ? "previous" : null;
  return found === stands ? null : found;
}

/** It failed, and nobody knows what it runs, or it has not said how its upgrade ended. */
export const isOpen = (node: Ended): boolean =>
  isGivenUp(node) ||
  ((node.status === "failed" || node.status === "failed_rollback") && node.stands === "unknown");
