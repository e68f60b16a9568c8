/** Nodes that a step could not launch or settle: marked as failed with the cause, while the others go on. */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type { IncidentDraft } from "../../core/incident/draft.ts";
import type { DecidedEvent, Launch, NodePatch, Stands } from "../../core/rollout/decision.ts";
import type { NodeUpgradeStatus } from "../../core/rollout/states.ts";
import type { Transaction } from "../db/database.ts";
import type { Isolated } from "./isolate.ts";

const MESSAGE_CHARS_MAX = 500;

export interface NodeFailure {
  readonly nodeId: NodeId;
  readonly status: Extract<NodeUpgradeStatus, "failed" | "failed_rollback">;
  readonly stands: Exclude<Stands, "untouched">;
  readonly code: string;
  readonly message: string;
}

/** A node that was not launched stands where it stood; of one that was given up before, that is not known. */
export const notLaunched = ({ item, error }: Isolated<Launch, unknown>["failed"][number]): NodeFailure => {
  const { nodeId, direction, attempt } = item;
  if (direction === "reverse")
    return { nodeId, status: "failed_rollback", stands: "target", ...causeOf(error) };
  return { nodeId, status: "failed", stands: attempt <= 1 ? "previous" : "unknown", ...causeOf(error) };
};

export const notSettled = ({ item, error }: Isolated<NodePatch, unknown>["failed"][number]): NodeFailure => {
  const isBack = item.status === "rolled_back" || item.status === "failed_rollback";
  const status = isBack ? "failed_rollback" : "failed";
  return { nodeId: item.nodeId, status, stands: "unknown", ...causeOf(error) };
};

function causeOf(error: unknown): Pick<NodeFailure, "code" | "message"> {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MESSAGE_CHARS_MAX);
  return { code: error instanceof FairleadError ? error.code : "NODE_STEP_FAILED", message };
}

export async function markFailed(
  tx: Transaction,
  id: RolloutId,
  failures: readonly NodeFailure[],
  now: number,
): Promise<void> {
  if (failures.length === 0) return;
  await tx`
    update rollout_nodes rn set status = f.status, stands = f.stands, error_code = f.code, error_message = f.message,
      upgrade_phase = null, action_name = null, ended_at = ${new Date(now)}
    from jsonb_to_recordset(${tx.json(failures as never)})
      as f("nodeId" uuid, status text, stands text, code text, message text)
    where rn.rollout_id = ${id} and rn.node_id = f."nodeId"`;
}

export const failureEvent = ({ nodeId, status, code, message }: NodeFailure): DecidedEvent => ({
  kind: "node.upgrade",
  nodeId,
  status,
  phase: null,
  action: null,
  error: { code, text: message },
});

export const failureIncidents = (failures: readonly NodeFailure[]): IncidentDraft[] =>
  failures
    .filter(({ status }) => status === "failed_rollback")
    .map(({ nodeId, code, message }) => ({
      category: "upgrade_rollback_failed",
      severity: "critical",
      nodeId,
      title: "a node could not be rolled back",
      detail: { direction: "reverse", error_code: code, error_message: message },
      recoveryPlan: null,
    }));
