/** The states of a group of rollouts as one table that server, CLI and console read (ROLL-11, ROLL-13). */
import { z } from "zod";

export const GROUP_STATUSES = [
  "pending",
  "running",
  "paused",
  "rolling_back",
  "completed",
  "partial",
  "failed",
  "cancelled",
  "rolled_back",
] as const;
export const GroupStatus = z.enum(GROUP_STATUSES);
export type GroupStatus = z.infer<typeof GroupStatus>;

const FAILURE_POLICIES = ["partial_ok", "rollback_all", "manual"] as const;
export const FailurePolicy = z.enum(FAILURE_POLICIES);
export type FailurePolicy = z.infer<typeof FailurePolicy>;

/** What an operator may ask for. `skip` leaves a failed component behind and goes on with the next. */
export const GROUP_SIGNALS = ["start", "pause", "resume", "cancel", "rollback", "skip"] as const;
export const GroupSignalKind = z.enum(GROUP_SIGNALS);
export type GroupSignalKind = z.infer<typeof GroupSignalKind>;

/** What the drive itself does. */
export type GroupEvent = GroupSignalKind | "halt" | "complete" | "settle_partial" | "fail" | "rolled_back";

const GROUP_TRANSITIONS = {
  pending: { start: "running", cancel: "cancelled" },
  running: {
    pause: "paused",
    halt: "paused",
    cancel: "cancelled",
    rollback: "rolling_back",
    complete: "completed",
    settle_partial: "partial",
    fail: "failed",
  },
  paused: { resume: "running", skip: "running", cancel: "cancelled", rollback: "rolling_back" },
  rolling_back: { rolled_back: "rolled_back" },
  completed: { rollback: "rolling_back" },
  partial: { rollback: "rolling_back" },
  failed: { rollback: "rolling_back" },
  cancelled: { rollback: "rolling_back" },
  // Nodes that were given up on the way may turn out to run the new version: they can be taken back later.
  rolled_back: { rollback: "rolling_back" },
} as const satisfies Record<GroupStatus, { [E in GroupEvent]?: GroupStatus }>;

export function stepGroup(from: GroupStatus, event: GroupEvent): GroupStatus | undefined {
  const row: { [E in GroupEvent]?: GroupStatus } = GROUP_TRANSITIONS[from];
  return row[event];
}

export const isGroupActive = (status: GroupStatus): boolean =>
  ["pending", "running", "paused", "rolling_back"].includes(status);
