/** What of a draft is written back. */
import type { NodePatch, RolloutPatch } from "./decision.ts";
import type { DraftNode, DraftRollout } from "./draft.ts";
import type { StatusCounts } from "./rows.ts";
import { isSettled } from "./states.ts";

export const failedCount = (counts: StatusCounts): number => counts.failed + counts.failed_rollback;

/** `failed`: those that do not wait for a retry. */
export const patchOfRollout = (rollout: DraftRollout, failed: number): RolloutPatch => ({
  status: rollout.status,
  currentBatch: rollout.currentBatch,
  healthUntil: rollout.healthUntil,
  forceContinue: rollout.forceContinue,
  pauseRequested: rollout.pauseRequested,
  cancelRequested: rollout.cancelRequested,
  rollbackRequested: rollout.rollbackRequested,
  canaryApprovedBy: rollout.canaryApprovedBy,
  canaryApprovedAt: rollout.canaryApprovedAt,
  // A failure that was seen and retried is none any more: the next one is new.
  acknowledgedFailures: Math.min(rollout.acknowledgedFailures, failed),
  why: rollout.why,
});

export const patchOfNode = (node: DraftNode): NodePatch => ({
  nodeId: node.nodeId,
  batchIndex: node.batchIndex,
  status: node.status,
  phase: isSettled(node.status) ? null : node.phase,
  actionName: node.actionName,
  progressPct: node.progressPct,
  waitingFor: isSettled(node.status) ? null : node.waitingFor,
  installedAt: node.installedAt,
  errorCode: node.errorCode,
  errorMessage: node.errorMessage,
  retryRequested: node.retryRequested,
  stands: node.stands,
});
