/** What a person must look at (ROLL-16, ROLL-19). */
import type { IncidentDraft } from "../incident/draft.ts";
import type { BatchNode, RolloutRow, Why } from "./rows.ts";

type Troubled = Pick<BatchNode, "nodeId" | "direction" | "attempt" | "errorCode" | "errorMessage">;

/** A node ended `failed_rollback`: in its own upgrade, or on the way back that an operator asked for. */
export function incidentOfNode(rollout: RolloutRow, node: Troubled): IncidentDraft {
  const wasAsked = rollout.status === "rolling_back";
  const unreadable = rollout.migrationType === "breaking" && node.errorCode === "HEALTH_CRASH_LOOP";
  return {
    category: wasAsked ? "upgrade_rollback_failed" : "upgrade_failed",
    severity: "critical",
    nodeId: node.nodeId,
    title: titleOf(wasAsked, unreadable),
    detail: { ...detailOf(node), crash_loop_after_rollback: node.errorCode === "HEALTH_CRASH_LOOP" },
    recoveryPlan: rollout.migrationType === "breaking" ? rollout.recoveryPlan : null,
  };
}

function titleOf(wasAsked: boolean, unreadable: boolean): string {
  if (unreadable) return "the previous version crashes again and again: it may not read the new state";
  return wasAsked ? "a node could not be rolled back" : "an upgrade failed and so did its compensation";
}

/** The rollout launches nothing until somebody signs again. */
export const incidentOfUntrustedIntent = (why: Why): IncidentDraft => ({
  category: "intent_untrusted",
  severity: "critical",
  nodeId: null,
  title: "a rollout stopped: nodes no longer take its signed intent",
  detail: { code: why.code, reason: why.text },
  recoveryPlan: null,
});

/** It is unhealthy on the new version, and no node takes the intent that would let it go back. */
export const incidentOfClosedIntent = (rollout: RolloutRow, node: Troubled): IncidentDraft => ({
  category: "upgrade_failed",
  severity: "critical",
  nodeId: node.nodeId,
  title: `an unhealthy node could not be put back: ${
    rollout.intentUntrusted === null ? "the signed window was over" : "its intent is not trusted any more"
  }`,
  detail: detailOf(node),
  recoveryPlan: rollout.migrationType === "breaking" ? rollout.recoveryPlan : null,
});

/** Nothing takes it back by itself: its batch or its rollout is over. */
export const incidentOfLateFailure = (rollout: RolloutRow, node: Troubled): IncidentDraft => ({
  category: "upgrade_failed",
  severity: "critical",
  nodeId: node.nodeId,
  title: "a node completed after it was given up, and is not well on the new version",
  detail: detailOf(node),
  recoveryPlan: rollout.migrationType === "breaking" ? rollout.recoveryPlan : null,
});

/** It runs the new version, and nobody has judged its health. */
export const incidentOfGivenUp = (rollout: RolloutRow, node: Troubled): IncidentDraft => ({
  category: "upgrade_failed",
  severity: "critical",
  nodeId: node.nodeId,
  title: "an installed node was given up before its health was known: it runs the new version",
  detail: detailOf(node),
  recoveryPlan: rollout.migrationType === "breaking" ? rollout.recoveryPlan : null,
});

/** The wait was over, and the node showed some life without getting well. */
export const incidentOfStall = (node: Troubled, code: string, reason: string): IncidentDraft => ({
  category: "upgrade_stalled",
  severity: "warning",
  nodeId: node.nodeId,
  title: "a node shows life but did not get well within the health wait",
  detail: { ...detailOf(node), error_code: code, error_message: reason },
  recoveryPlan: null,
});

const detailOf = ({ direction, attempt, errorCode, errorMessage }: Troubled) => ({
  direction,
  attempt,
  error_code: errorCode,
  error_message: errorMessage,
});
