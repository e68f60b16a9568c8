/** The rows that `decideRollout` reads. Times are milliseconds since the epoch. */
import type { ErrorCode } from "../error-codes.ts";
import type { CommandId, Digest, NodeId, ProfileId, RolloutId } from "../ids.ts";
import type { MigrationType } from "../manifest/schema.ts";
import type { UpgradeReport } from "../protocol/agent-api.ts";
import type { Direction } from "../upgrade/job.ts";
import type { UpgradePhase } from "../upgrade/phases.ts";
import type { Stands } from "./decision.ts";
import type { HealthFacts } from "./health.ts";
import type { MaxUnavailable } from "./create.ts";
import type { NodeUpgradeStatus, RolloutStatus, SignalKind, Strategy } from "./states.ts";

/** Says why a thing waits, stopped or failed; shown as it stands. */
export interface Why {
  readonly code: string;
  readonly text: string;
}

export interface RolloutRow {
  readonly id: RolloutId;
  readonly status: RolloutStatus;
  readonly strategy: Strategy;
  readonly migrationType: MigrationType;
  readonly recoveryPlan: string | null;
  readonly batchCount: number;
  /** -1 before the first batch is launched; counts down while rolling back. */
  readonly currentBatch: number;
  readonly failureThreshold: number;
  /** Failures pause nothing any more. */
  readonly forceContinue: boolean;
  /** An installed node has succeeded without being observed. */
  readonly skipValidation: boolean;
  readonly maxUnavailable: MaxUnavailable | null;
  readonly healthWaitMs: number;
  readonly healthUntil: number | null;
  readonly pauseRequested: boolean;
  readonly cancelRequested: boolean;
  readonly rollbackRequested: boolean;
  readonly canaryApprovedBy: string | null;
  readonly canaryApprovedAt: number | null;
  /** Failures that an operator has seen and gone on from: they pause nothing a second time. */
  readonly acknowledgedFailures: number;
  readonly intentNotAfter: number | null;
  /** Outdated by an empty one: every node that has it refuses this. */
  readonly intentCalledOff: boolean;
  /** Why no node takes the intent any more: its key was revoked, or is over. Null where nodes take it. */
  readonly intentUntrusted: string | null;
  readonly rollbackAllowed: boolean;
  readonly why: Why | null;
}

/** One node of the current batch, or one that an unread signal is about. */
export interface BatchNode {
  readonly nodeId: NodeId;
  readonly batchIndex: number;
  readonly status: NodeUpgradeStatus;
  readonly phase: UpgradePhase | null;
  readonly actionName: string | null;
  readonly progressPct: number;
  /** The profile whose job its agent runs first. */
  readonly waitingFor: ProfileId | null;
  readonly direction: Direction;
  readonly attempt: number;
  readonly commandId: CommandId | null;
  readonly launchedAt: number | null;
  /** When the agent reported COMPLETED for the direction that it was last launched in. */
  readonly installedAt: number | null;
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
  /** Failed, and an operator asked for another attempt that has not begun. */
  readonly retryRequested: boolean;
  /** At work, and not heard of since then. */
  readonly silentSince: number | null;
  readonly isRevoked: boolean;
  readonly target: Digest;
  /** What the node ran before; null when nothing is known of it, and then nothing can be put back. */
  readonly previous: Digest | null;
  /** What it runs as far as is recorded: where its present attempt began. */
  readonly recorded: Digest | null;
  /** Where it stood when its last attempt was over; null before that. */
  readonly stands: Exclude<Stands, "untouched"> | null;
  /** What it runs and has installed, by a heartbeat that came after it was settled; null when the two differ. */
  readonly measured: Digest | null;
  /** Its assignment is this rollout's: no later one has changed the node. */
  readonly assigned: boolean;
  /** Its value of the label that `maxUnavailable` names. */
  readonly labelValue: string | null;
  /** Of the other programs on its node: one is away, or one is in maintenance. Read only for a limit per label. */
  readonly elsewhere: "away" | "busy" | null;
  readonly facts: HealthFacts;
}

export type StatusCounts = Readonly<Record<NodeUpgradeStatus, number>>;

/**
 * The first batch with nodes that wait, those about to be skipped left out: the current one, while it is being opened,
 * or one after it.
 */
export interface NextBatch {
  readonly index: number;
  readonly nodes: number;
  /**
   * By the value of the label that `maxUnavailable` names: nodes of the batch, nodes outside it that are away, and those
   * that are only in maintenance for another of their programs: they come back by themselves.
   */
  readonly byValue: readonly {
    readonly value: string;
    readonly nodes: number;
    readonly away: number;
    readonly busy: number;
  }[];
}

/**
 * Failed nodes whose retry was asked for, without revoked ones. Each is launched in its own batch: a batch keeps its size
 * and its limit.
 */
export interface WaitingRetries {
  readonly nodes: number;
  /** Failed nodes that are not revoked, whether their retry was asked for or not. */
  readonly possible: number;
  /** The batch to go next: the current one, or the lowest. Null when none waits. */
  readonly next: NextBatch | null;
}

export interface SignalRow {
  readonly id: number;
  readonly kind: SignalKind;
  /** Only `retry`, `skip` and `give_up` name one. */
  readonly nodeId: NodeId | null;
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

/** Nodes of the current batch at work that this step has no reason to look at one by one. */
export interface QuietNodes {
  readonly installing: number;
  /** When the first of those was launched. */
  readonly launchedAt: number | null;
  /** Installed, and their wait is not over, or they cannot be judged, or enough others can. */
  readonly verifying: number;
}

export interface RolloutRows {
  readonly rollout: RolloutRow;
  /** The current batch, without those that are quiet. */
  readonly batch: readonly BatchNode[];
  readonly quiet: QuietNodes;
  /**
   * Besides: what unread signals want retried or skipped, what was given up and is reported about now, and what was
   * given up and says by heartbeat what it runs.
   */
  readonly named: readonly BatchNode[];
  /** Over the whole rollout, the current batch included. */
  readonly counts: StatusCounts;
  readonly next: NextBatch | null;
  readonly retries: WaitingRetries;
  /** A node of a batch after the canary was launched before. */
  readonly isBeyondCanary: boolean;
  /** The highest batch with nodes that stand on the target and came from somewhere: the next one of a rollback. */
  readonly lastOnTarget: Pick<NextBatch, "index" | "nodes"> | null;
  /** Failed nodes of which nobody knows what they run; counted for a rollback. */
  readonly unsettled: number;
  readonly signals: readonly SignalRow[];
  readonly reports: readonly ReportRow[];
  /** Since when the control plane is available without a gap: what nodes did not say before is not theirs. */
  readonly availableSince: number;
  readonly launchesPerStep: number;
  readonly settlesPerStep: number;
}
