/** Nodes that a step could not launch or settle: marked as failed with the cause, while the others go on. */
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type { IncidentDraft } from "../../core/incident/draft.ts";
import type { DecidedEvent, Launch, NodePatch, Stands } from "../../core/rollout/decision.ts";
import { incidentOfNode } from "../../core/rollout/incidents.ts";
import type { RolloutRow } from "../../core/rollout/rows.ts";
import type { NodeUpgradeStatus } from "../../core/rollout/states.ts";
import type { Transaction } from "../db/database.ts";
import type { Isolated } from "./isolate.ts";
import { leaveMaintenance } from "./settle.ts";

const MESSAGE_CHARS_MAX = 500;

export interface NodeFailure {
  readonly nodeId: NodeId;
  readonly attempt: number;
  readonly status: Extract<NodeUpgradeStatus, "failed" | "failed_rollback">;
  readonly stands: Exclude<Stands, "untouched">;
  readonly code: string;
  readonly message: string;
}

/**
 * A node that was not launched stands where it stood. That is not recorded of one that was given up before, nor of one
 * that should go back before its upgrade was settled: a heartbeat tells it.
 */
export const notLaunched = ({ item, error }: Isolated<Launch, unknown>["failed"][number]): NodeFailure => {
  const { nodeId, direction, attempt } = item;
  if (direction === "reverse")
    return { nodeId, attempt, status: "failed_rollback", stands: "unknown", ...causeOf(error) };
  const stands = attempt <= 1 ? "previous" : "unknown";
  return { nodeId, attempt, status: "failed", stands, ...causeOf(error) };
};

export const notSettled = ({ item, error }: Isolated<NodePatch, unknown>["failed"][number]): NodeFailure => {
  const isBack = item.status === "rolled_back" || item.status === "failed_rollback";
  const status = isBack ? "failed_rollback" : "failed";
  return { nodeId: item.nodeId, attempt: 0, status, stands: "unknown", ...causeOf(error) };
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
      upgrade_phase = null, action_name = null, waiting_for = null, silent_since = null, retry_requested = false,
      ended_at = ${new Date(now)}
    from jsonb_to_recordset(${tx.json(failures as never)})
      as f("nodeId" uuid, status text, stands text, code text, message text)
    where rn.rollout_id = ${id} and rn.node_id = f."nodeId"`;
  await leaveMaintenance(
    tx,
    id,
    failures.map(({ nodeId }) => nodeId),
    "degraded",
  );
}

export const failureEvent = ({ nodeId, status, code, message }: NodeFailure): DecidedEvent => ({
  kind: "node.upgrade",
  nodeId,
  status,
  phase: null,
  action: null,
  error: { code, text: message },
});

export const failureIncidents = (rollout: RolloutRow, failures: readonly NodeFailure[]): IncidentDraft[] =>
  failures
    .filter(({ status }) => status === "failed_rollback")
    .map(({ nodeId, attempt, code, message }) =>
      incidentOfNode(rollout, {
        nodeId,
        direction: "reverse",
        attempt,
        errorCode: code as ErrorCode,
        errorMessage: message,
      }),
    );
