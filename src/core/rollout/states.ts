/** The states of a rollout and of a node's upgrade, each as one table that server, CLI and console read. */
import { z } from "zod";

export const ROLLOUT_STATUSES = [
  "pending",
  "running",
  "paused",
  "rolling_back",
  "completed",
  "failed",
  "cancelled",
  "rolled_back",
] as const;
export const RolloutStatus = z.enum(ROLLOUT_STATUSES);
export type RolloutStatus = z.infer<typeof RolloutStatus>;

/** What an operator may ask for. `retry`, `skip` and `give_up` may name one node. */
export const SIGNALS = [
  "start",
  "pause",
  "resume",
  "cancel",
  "force",
  "approve_canary",
  "rollback",
  "retry",
  "skip",
  "give_up",
] as const;
export const SignalKind = z.enum(SIGNALS);
export type SignalKind = z.infer<typeof SignalKind>;

/** What the drive itself does. */
type DriveEvent = "halt" | "complete" | "fail" | "end_rollback";
export type RolloutEvent = SignalKind | DriveEvent;

/**
 * Where an event leads. `pause`, `cancel` and `rollback` of a running rollout take effect at the batch boundary: until
 * then it stays `running` with the request noted. What a signal needs besides its state says core/rollout/allow.ts.
 */
const ROLLOUT_TRANSITIONS = {
  pending: { start: "running", cancel: "cancelled", skip: "pending", give_up: "pending" },
  running: {
    pause: "paused",
    cancel: "cancelled",
    force: "running",
    rollback: "rolling_back",
    retry: "running",
    skip: "running",
    give_up: "running",
    halt: "paused",
    complete: "completed",
    fail: "failed",
  },
  paused: {
    resume: "running",
    cancel: "cancelled",
    force: "running",
    approve_canary: "running",
    rollback: "rolling_back",
    retry: "paused",
    skip: "paused",
    give_up: "paused",
    fail: "failed",
  },
  // A second `rollback` brings the intent that one with a closed window waits for.
  rolling_back: { rollback: "rolling_back", give_up: "rolling_back", end_rollback: "rolled_back" },
  completed: { rollback: "rolling_back" },
  failed: { rollback: "rolling_back" },
  cancelled: { rollback: "rolling_back" },
  // Nodes that were given up on the way may turn out to run the target: they can be taken back later.
  rolled_back: { rollback: "rolling_back" },
} as const satisfies Record<RolloutStatus, { [E in RolloutEvent]?: RolloutStatus }>;

export function step(from: RolloutStatus, event: RolloutEvent): RolloutStatus | undefined {
  const row: { [E in RolloutEvent]?: RolloutStatus } = ROLLOUT_TRANSITIONS[from];
  return row[event];
}

export const can = (from: RolloutStatus, event: RolloutEvent): boolean => step(from, event) !== undefined;

export const ACTIVE_STATUSES = ["pending", "running", "paused", "rolling_back"] as const;
export const isActive = (status: RolloutStatus): boolean =>
  (ACTIVE_STATUSES as readonly string[]).includes(status);

export const NODE_UPGRADE_STATUSES = [
  "pending",
  "in_progress",
  "succeeded",
  "failed",
  "rolled_back",
  "failed_rollback",
  "skipped",
] as const;
export const NodeUpgradeStatus = z.enum(NODE_UPGRADE_STATUSES);
export type NodeUpgradeStatus = z.infer<typeof NodeUpgradeStatus>;

export const isSettled = (status: NodeUpgradeStatus): boolean =>
  status !== "pending" && status !== "in_progress";

const STRATEGIES = ["rolling", "canary", "all_at_once"] as const;
export const Strategy = z.enum(STRATEGIES);
export type Strategy = z.infer<typeof Strategy>;
