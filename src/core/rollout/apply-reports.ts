/**
 * What agents reported since the last step. A report of another command, of a settled node, or after the verdict
 * changes nothing.
 */
import { unreachable } from "../errors.ts";
import type { Draft, DraftNode } from "./draft.ts";
import type { ReportRow, Why } from "./rows.ts";

export function applyReports(draft: Draft, reports: readonly ReportRow[]): void {
  for (const report of reports) {
    const node = draft.nodes.get(report.nodeId);
    if (node?.status !== "in_progress" || node.commandId !== report.commandId) continue;
    if (node.phase !== "VERIFYING") applyReport(draft, node, report);
  }
}

function applyReport(draft: Draft, node: DraftNode, { body, at }: ReportRow): void {
  switch (body.kind) {
    case "progress":
      return draft.change(node, {
        phase: body.progress.phase,
        actionName: body.progress.action_name,
        progressPct: body.progress.progress_pct,
      });
    case "refused":
      // A refused reverse leaves the unhealthy version in place.
      return draft.change(
        node,
        node.direction === "reverse" ? { status: "failed_rollback", stands: "target" } : { status: "failed" },
        { code: body.rejection.code, text: body.rejection.reason },
      );
    case "verdict": {
      const error: Why = {
        code: body.error_code ?? "ACTION_FAILED",
        text: body.error_message ?? "no reason given",
      };
      if (body.verdict === "FAILED_ROLLBACK")
        return draft.change(node, { status: "failed_rollback", stands: "unknown" }, error);
      if (node.direction === "reverse")
        return settleReverse(draft, node, body.verdict === "COMPLETED", error);
      if (body.verdict === "FAILED") return draft.change(node, { status: "failed" }, error);
      return draft.change(node, { phase: "VERIFYING", installedAt: at, actionName: null, progressPct: 100 });
    }
    default:
      return unreachable(body);
  }
}

/** The reverse followed a failed health check: the node counts as failed even though it is back on its feet. */
function settleReverse(draft: Draft, node: DraftNode, restored: boolean, error: Why): void {
  if (!restored) return draft.change(node, { status: "failed_rollback", stands: "target" }, error);
  const text = `${node.errorMessage ?? "unhealthy"}; the previous version is back`;
  return draft.change(node, { status: "failed" }, { code: node.errorCode ?? "HEALTH_CRITICAL", text });
}
