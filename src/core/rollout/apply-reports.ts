/**
 * What agents reported since the last step. A report of another command, or after the verdict, changes nothing; one of a
 * node that was given up settles it (ROLL-29). Each report is answered with what became of it.
 */
import { unreachable } from "../errors.ts";
import type { ReportOutcome, Stands } from "./decision.ts";
import type { Draft, DraftNode } from "./draft.ts";
import { completedLate, isGivenUp } from "./late.ts";
import type { ReportRow, Why } from "./rows.ts";

export function applyReports(draft: Draft, reports: readonly ReportRow[], now: number): void {
  for (const report of reports) {
    // A report that was stored while the clock was ahead is not from the future.
    const outcome = takeReport(draft, { ...report, at: Math.min(report.at, now) }, now);
    draft.answeredReports.push({ id: report.id, outcome });
    const { nodeId, body } = report;
    if (outcome === "superseded" && body.kind === "verdict")
      draft.events.push({ kind: "node.report", nodeId, verdict: body.verdict, outcome });
  }
}

function takeReport(draft: Draft, report: ReportRow, now: number): ReportOutcome {
  const node = draft.nodes.get(report.nodeId);
  if (node === undefined) return "unknown_node";
  if (node.commandId !== report.commandId && !isStillHeld(node, report)) return "superseded";
  if (node.status === "in_progress") {
    if (node.phase === "VERIFYING") return "repeated";
    applyReport(draft, node, report);
    return "applied";
  }
  if (!isGivenUp(node)) return "repeated";
  if (!node.assigned) return "superseded";
  if (report.body.kind === "progress") return "late_progress";
  settleLate(draft, node, report, now);
  return "applied";
}

/** A machine whose way back failed takes no command until a person has looked: an attempt that said nothing changed nothing. */
const isStillHeld = (node: DraftNode, { body }: ReportRow): boolean =>
  isGivenUp(node) && body.kind === "verdict" && body.verdict === "FAILED_ROLLBACK";

function settleLate(draft: Draft, node: DraftNode, report: ReportRow, now: number): void {
  if (report.body.kind === "verdict" && report.body.verdict === "COMPLETED")
    return completedLate(draft, node, report.at, now);
  if (node.measured !== null && node.measured === node.target) node.recorded = node.target;
  else if (node.measured !== null && node.measured === node.previous) node.recorded = node.previous;
  applyReport(draft, node, report);
}

function applyReport(draft: Draft, node: DraftNode, { body, at }: ReportRow): void {
  switch (body.kind) {
    case "progress":
      return draft.change(node, {
        waitingFor: null,
        phase: body.progress.phase,
        actionName: body.progress.action_name,
        progressPct: body.progress.progress_pct,
      });
    case "waiting":
      // Told before the first action, it may arrive after it.
      if (node.actionName === null) draft.change(node, { waitingFor: body.waiting_for });
      return;
    case "refused":
      return refuse(draft, node, { code: body.rejection.code, text: body.rejection.reason });
    case "verdict": {
      if (body.verdict === "COMPLETED") return installed(draft, node, at);
      const error: Why = {
        code: body.error_code ?? "ACTION_FAILED",
        text: body.error_message ?? "no reason given",
      };
      if (body.verdict === "FAILED") return fail(draft, node, error);
      return draft.change(node, { status: "failed_rollback", stands: "unknown" }, error);
    }
    default:
      return unreachable(body);
  }
}

/** What the agent has taken back itself leaves the node where that attempt began, the way back on the new version. */
function fail(draft: Draft, node: DraftNode, error: Why): void {
  if (node.direction === "forward")
    return draft.change(node, { status: "failed", stands: beganOn(node) }, error);
  return draft.change(node, { status: "failed_rollback", stands: "target" }, error);
}

/**
 * The node has done nothing, and stands where it stood. Nobody knows where that is when it runs something else than was
 * recorded, or when an attempt before this one was given up.
 */
function refuse(draft: Draft, node: DraftNode, error: Why): void {
  if (node.direction === "reverse") {
    const moved = error.code === "CURRENT_MISMATCH" || error.code === "ROLLBACK_REFUSED";
    return draft.change(node, { status: "failed_rollback", stands: moved ? "unknown" : "target" }, error);
  }
  const isKnown = error.code !== "CURRENT_MISMATCH" && node.attempt <= 1;
  return draft.change(node, { status: "failed", stands: isKnown ? beganOn(node) : "unknown" }, error);
}

/** A node that was left on an unhealthy target is retried from there. */
const beganOn = ({ recorded, target, previous }: DraftNode): Stands =>
  recorded === target && previous !== target ? "target" : "previous";

function installed(draft: Draft, node: DraftNode, at: number): void {
  const done = { installedAt: at, actionName: null, progressPct: 100, waitingFor: null };
  if (draft.rollout.skipValidation && node.direction === "forward")
    return draft.change(node, { ...done, status: "succeeded", stands: "target" });
  return draft.change(node, { ...done, phase: "VERIFYING" });
}
