/** The rows that `decideGroup` reads, and the changes that it asks for. Times are milliseconds since the epoch. */
import type { Digest, NodeId, RolloutId } from "../ids.ts";
import type { GroupId } from "../protocol/group-api.ts";
import type { HealthFacts } from "../rollout/health.ts";
import type { StatusCounts, Why } from "../rollout/rows.ts";
import type { RolloutStatus, SignalKind } from "../rollout/states.ts";
import type { FailurePolicy, GroupSignalKind, GroupStatus } from "./states.ts";

export interface GroupRow {
  readonly id: GroupId;
  readonly status: GroupStatus;
  readonly failurePolicy: FailurePolicy;
  /** -1 before the first component is started; the number of components when all have had their turn. */
  readonly currentComponent: number;
  /** The one whose failure the policy is about; null when none is, or when an operator has left it behind. */
  readonly failedComponent: number | null;
  readonly healthWaitMs: number;
  /** Until then a completed component is watched before the next begins. */
  readonly gateUntil: number | null;
  readonly pauseRequested: boolean;
  readonly cancelRequested: boolean;
  readonly why: Why | null;
}

/** One component: a rollout as far as its group looks at it. */
export interface ComponentRow {
  readonly id: RolloutId;
  readonly index: number;
  readonly name: string;
  readonly status: RolloutStatus;
  readonly why: Why | null;
  readonly counts: StatusCounts;
  /** Nodes that a rollback takes back, nodes given up that run the new version among them. */
  readonly onTarget: number;
  /** Nodes on the new version, also where no rollback can take them back. */
  readonly onNew: number;
  /** Failed nodes that have not said what they run. */
  readonly unknown: number;
  readonly pauseRequested: boolean;
  readonly cancelRequested: boolean;
  readonly rollbackRequested: boolean;
  readonly rollbackAllowed: boolean;
  /** A signal that the component has not read yet: nothing more is asked of it before. */
  readonly hasUnread: boolean;
}

/** A node that succeeded in the component under watch. */
export interface GateNode {
  readonly nodeId: NodeId;
  readonly target: Digest;
  readonly facts: HealthFacts;
}

export interface GroupSignalRow {
  readonly id: number;
  readonly kind: GroupSignalKind;
  readonly actor: string;
  readonly reason: string | null;
}

export interface GroupRows {
  readonly group: GroupRow;
  /** By their index. */
  readonly components: readonly ComponentRow[];
  /** Of the current component, when its watch is over; else empty. */
  readonly gate: readonly GateNode[];
  readonly signals: readonly GroupSignalRow[];
  /** Since when the control plane is available without a gap. */
  readonly availableSince: number;
}

export type GroupPatch = Omit<GroupRow, "id" | "failurePolicy" | "healthWaitMs">;

/** A row for the component's own signals. */
export interface ComponentSignal {
  readonly rolloutId: RolloutId;
  readonly kind: Extract<SignalKind, "start" | "pause" | "resume" | "cancel" | "rollback">;
}

export type GroupDecidedEvent =
  | {
      readonly kind: "group.status";
      readonly from: GroupStatus;
      readonly to: GroupStatus;
      readonly why: Why | null;
    }
  | {
      readonly kind: "group.component";
      readonly component: number;
      readonly rolloutId: RolloutId;
      readonly asked: ComponentSignal["kind"] | "watch";
    }
  | {
      readonly kind: "group.signal";
      readonly signal: GroupSignalKind;
      readonly actor: string;
      readonly reason: string | null;
      readonly applied: boolean;
    };

export interface GroupDecision {
  readonly group: GroupPatch;
  readonly componentSignals: readonly ComponentSignal[];
  readonly appliedSignals: readonly GroupSignalRow["id"][];
  readonly events: readonly GroupDecidedEvent[];
  readonly wakeAt: number | null;
}
