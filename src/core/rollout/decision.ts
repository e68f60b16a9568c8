/** The changes that `decideRollout` asks for; the server writes them in the transaction that read the rows. */
import type { IncidentDraft } from "../incident/draft.ts";
import type { NodeId, ProfileId } from "../ids.ts";
import type { Direction } from "../upgrade/job.ts";
import type { AgentVerdict, UpgradePhase } from "../upgrade/phases.ts";
import type { ReportRow, RolloutRow, SignalRow, Why } from "./rows.ts";
import type { NodeUpgradeStatus, RolloutStatus, SignalKind } from "./states.ts";

export type RolloutPatch = Pick<
  RolloutRow,
  | "status"
  | "currentBatch"
  | "healthUntil"
  | "forceContinue"
  | "pauseRequested"
  | "cancelRequested"
  | "rollbackRequested"
  | "canaryApprovedBy"
  | "canaryApprovedAt"
  | "acknowledgedFailures"
  | "why"
>;

export interface NodePatch {
  readonly nodeId: NodeId;
  readonly batchIndex: number;
  readonly status: NodeUpgradeStatus;
  readonly phase: UpgradePhase | null;
  readonly actionName: string | null;
  readonly progressPct: number;
  readonly waitingFor: ProfileId | null;
  readonly installedAt: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly retryRequested: boolean;
  /** Null while it is at work. */
  readonly stands: Stands | null;
}

/** What a node runs when its upgrade is over: that is what its next one starts from. */
export type Stands = "target" | "previous" | "unknown" | "untouched";

/** The server turns a launch into an assignment, a snapshot and a command. */
export interface Launch {
  readonly nodeId: NodeId;
  readonly direction: Direction;
  readonly attempt: number;
}

/**
 * The outcome of a report. `repeated`: the command was answered before. `superseded`: a later command or a later rollout
 * has taken its place. `late_progress`: the node was given up, and its verdict is still to come.
 */
export type ReportOutcome = "applied" | "repeated" | "superseded" | "late_progress" | "unknown_node";

/** Nodes of a batch that a launch takes: not begun, failed with a retry asked for, or on the target with a way back. */
export type BatchPart = "pending" | "retried" | "succeeded";

/** So many at most of that part of the batch; the next steps launch the others. The server finds them by the index. */
export interface BatchLaunch {
  readonly index: number;
  readonly part: BatchPart;
  readonly most: number;
}

export const directionOf = (part: BatchPart): Direction => (part === "succeeded" ? "reverse" : "forward");

export type DecidedEvent =
  | {
      readonly kind: "rollout.status";
      readonly from: RolloutStatus;
      readonly to: RolloutStatus;
      readonly why: Why | null;
    }
  | { readonly kind: "rollout.batch"; readonly batch: number; readonly direction: Direction }
  | {
      readonly kind: "rollout.signal";
      readonly signal: SignalKind;
      readonly nodeId: NodeId | null;
      readonly actor: string;
      readonly reason: string | null;
      readonly applied: boolean;
    }
  | {
      readonly kind: "node.upgrade";
      readonly nodeId: NodeId;
      readonly status: NodeUpgradeStatus;
      readonly phase: UpgradePhase | null;
      readonly action: string | null;
      /** Only of a node that waits. */
      readonly waitingFor?: ProfileId;
      readonly error: Why | null;
    }
  /** A verdict that changed nothing, and why. */
  | {
      readonly kind: "node.report";
      readonly nodeId: NodeId;
      readonly verdict: AgentVerdict;
      readonly outcome: ReportOutcome;
    };

export interface RolloutDecision {
  readonly rollout: RolloutPatch;
  readonly nodes: readonly NodePatch[];
  readonly launches: readonly Launch[];
  readonly launchBatch: BatchLaunch | null;
  /** Failed nodes that wait for another attempt from now on. */
  readonly retries: readonly NodeId[] | "all";
  /** Nodes never attempted end `skipped`. */
  readonly skipPending: boolean;
  /** Those of the rows' signals that had an effect. */
  readonly appliedSignals: readonly SignalRow["id"][];
  /** One for each of the rows' reports. */
  readonly answeredReports: readonly { readonly id: ReportRow["id"]; readonly outcome: ReportOutcome }[];
  readonly incidents: readonly IncidentDraft[];
  readonly events: readonly DecidedEvent[];
  readonly wakeAt: number | null;
}
