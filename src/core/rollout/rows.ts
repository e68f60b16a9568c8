/** The rows that `decideRollout` reads, and the changes that it asks for. Times are milliseconds since the epoch. */
import type { ErrorCode } from "../error-codes.ts";
import type { CommandId, Digest, NodeId, RolloutId } from "../ids.ts";
import type { UpgradeReport } from "../protocol/agent-api.ts";
import type { Direction } from "../upgrade/job.ts";
import type { UpgradePhase } from "../upgrade/phases.ts";
import type { HealthFacts } from "./health.ts";
import type { NodeUpgradeStatus, RolloutStatus, SignalKind } from "./states.ts";

export interface RolloutRow {
  readonly id: RolloutId;
  readonly status: RolloutStatus;
  readonly batchCount: number;
  /** -1 before the first batch is launched. */
  readonly currentBatch: number;
  readonly failureThreshold: number;
  readonly healthWaitMs: number;
  readonly healthUntil: number | null;
  readonly pauseRequested: boolean;
  readonly cancelRequested: boolean;
  /** Failures that an operator has seen and gone on from: they pause nothing a second time. */
  readonly acknowledgedFailures: number;
  readonly intentNotAfter: number | null;
  readonly rollbackAllowed: boolean;
  readonly why: Why | null;
}

/** One node of the current batch. */
export interface BatchNode {
  readonly nodeId: NodeId;
  readonly status: NodeUpgradeStatus;
  readonly phase: UpgradePhase | null;
  readonly actionName: string | null;
  readonly progressPct: number;
  readonly direction: Direction;
  readonly attempt: number;
  readonly commandId: CommandId | null;
  readonly launchedAt: number | null;
  /** When the agent reported COMPLETED for the forward direction. */
  readonly installedAt: number | null;
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
  readonly target: Digest;
  /** What the node ran before; null when nothing is known of it, and then nothing can be put back. */
  readonly previous: Digest | null;
  readonly facts: HealthFacts;
}

export type StatusCounts = Readonly<Record<NodeUpgradeStatus, number>>;

export interface SignalRow {
  readonly id: number;
  readonly kind: SignalKind;
  readonly actor: string;
  readonly reason: string | null;
}

export interface ReportRow {
  readonly id: number;
  readonly nodeId: NodeId;
  readonly commandId: CommandId;
  readonly at: number;
  readonly body: UpgradeReport["body"];
}

export interface RolloutRows {
  readonly rollout: RolloutRow;
  readonly batch: readonly BatchNode[];
  /** Over the whole rollout, the current batch included. */
  readonly counts: StatusCounts;
  readonly signals: readonly SignalRow[];
  readonly reports: readonly ReportRow[];
}

/** Says why a thing waits, stopped or failed; shown as it stands. */
export interface Why {
  readonly code: string;
  readonly text: string;
}

export interface RolloutPatch {
  readonly status: RolloutStatus;
  readonly currentBatch: number;
  readonly healthUntil: number | null;
  readonly pauseRequested: boolean;
  readonly cancelRequested: boolean;
  readonly acknowledgedFailures: number;
  readonly why: Why | null;
}

export interface NodePatch {
  readonly nodeId: NodeId;
  readonly status: NodeUpgradeStatus;
  readonly phase: UpgradePhase | null;
  readonly actionName: string | null;
  readonly progressPct: number;
  readonly installedAt: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly stands: Stands;
}

/** What a node runs when its upgrade is over: that is what its next one starts from. */
export type Stands = "target" | "previous" | "unknown";

/** The server turns a launch into an assignment, a snapshot and a command. */
export interface Launch {
  readonly nodeId: NodeId;
  readonly direction: Direction;
  readonly attempt: number;
}

export type DecidedEvent =
  | {
      readonly kind: "rollout.status";
      readonly from: RolloutStatus;
      readonly to: RolloutStatus;
      readonly why: Why | null;
    }
  | { readonly kind: "rollout.batch"; readonly batch: number }
  | {
      readonly kind: "rollout.signal";
      readonly signal: SignalKind;
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
      readonly error: Why | null;
    };

export interface RolloutDecision {
  readonly rollout: RolloutPatch;
  readonly nodes: readonly NodePatch[];
  readonly launches: readonly Launch[];
  /** Launch every pending node of this batch; the server finds them by their index. */
  readonly launchBatch: number | null;
  /** Nodes never attempted end `skipped`. */
  readonly skipPending: boolean;
  readonly events: readonly DecidedEvent[];
  readonly wakeAt: number | null;
}
