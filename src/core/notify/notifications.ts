/** Which events are told to webhooks, and as what (ROLL-19). */
import type { Notification } from "../protocol/incident-api.ts";
import type { RolloutStatus } from "../rollout/states.ts";

export interface StoredEvent {
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: string;
  readonly rollout_id: string | null;
  readonly node_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A rollout that was cancelled is told by nobody: whoever cancelled it knows. */
const BY_STATUS: { readonly [S in RolloutStatus]?: Notification } = {
  completed: "rollout_completed",
  paused: "rollout_paused",
  failed: "rollout_failed",
  rolling_back: "rollback_initiated",
  rolled_back: "rollback_completed",
};

export function notificationOf({ kind, data }: StoredEvent): Notification | null {
  if (kind === "incident.opened") return "incident_opened";
  if (kind === "incident.resolved") return "incident_resolved";
  if (kind !== "rollout.status") return null;
  if (data["from"] === "pending" && data["to"] === "running") return "rollout_started";
  return BY_STATUS[data["to"] as RolloutStatus] ?? null;
}
