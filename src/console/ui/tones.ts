/** How each state looks and reads: a tone, an icon and a word, so that colour never stands alone. */
import type { FailurePolicy, GroupStatus } from "../../core/group/states.ts";
import type { ClaimedHealth, ClaimedSync } from "../../core/health/claim.ts";
import type { IncidentCategory, IncidentStatus, Severity } from "../../core/incident/states.ts";
import type { NodeState } from "../../core/protocol/agent-api.ts";
import type { NodeUpgradeStatus, RolloutStatus } from "../../core/rollout/states.ts";
import type { UpgradePhase } from "../../core/upgrade/phases.ts";

export type Tone = "neutral" | "info" | "good" | "warn" | "bad";
export type IconName =
  | "circle"
  | "progress"
  | "check"
  | "cross"
  | "pause"
  | "undo"
  | "alert"
  | "dash"
  | "eye";

export interface Look {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly label: string;
}

const look = (tone: Tone, icon: IconName, label: string): Look => ({ tone, icon, label });

export const ROLLOUT_LOOKS: Record<RolloutStatus, Look> = {
  pending: look("neutral", "circle", "Pending"),
  running: look("info", "progress", "Running"),
  paused: look("warn", "pause", "Paused"),
  rolling_back: look("warn", "undo", "Rolling back"),
  completed: look("good", "check", "Completed"),
  failed: look("bad", "cross", "Failed"),
  cancelled: look("neutral", "dash", "Cancelled"),
  rolled_back: look("warn", "undo", "Rolled back"),
};

export const GROUP_LOOKS: Record<GroupStatus, Look> = {
  ...ROLLOUT_LOOKS,
  partial: look("warn", "alert", "Partial"),
};

export const POLICY_WORDS: Record<FailurePolicy, string> = {
  partial_ok: "what is done stays, the rest is cancelled",
  rollback_all: "everything is rolled back",
  manual: "it pauses and waits for a person",
};

export const INCIDENT_LOOKS: Record<IncidentStatus, Look> = {
  open: look("bad", "alert", "Open"),
  acknowledged: look("warn", "eye", "Acknowledged"),
  resolved: look("good", "check", "Resolved"),
};

export const SEVERITY_LOOKS: Record<Severity, Look> = {
  critical: look("bad", "cross", "Critical"),
  warning: look("warn", "alert", "Warning"),
};

/** The category of an incident, in words; its severity gives the colour. */
export const CATEGORY_LABELS: Record<IncidentCategory, string> = {
  upgrade_failed: "Upgrade failed",
  upgrade_rollback_failed: "Rollback failed",
  upgrade_stalled: "Upgrade stalled",
  clock_disagrees: "Clocks disagree",
  intent_untrusted: "Intent not trusted",
  identity_copied: "Identity copied",
  started_on_expired_authority: "Started on expired authority",
  node_down: "Node down",
  crash_loop: "Crash loop",
  snapshot_rejected: "Snapshot refused",
  certificate_expiring: "Certificate near its end",
  key_expiring: "Key near its end",
};

export const DELIVERY_LOOKS = {
  pending: look("info", "progress", "Pending"),
  delivered: look("good", "check", "Delivered"),
  failed: look("bad", "cross", "Failed"),
} as const satisfies Record<string, Look>;

export const UPGRADE_LOOKS: Record<NodeUpgradeStatus, Look> = {
  pending: look("neutral", "circle", "Pending"),
  in_progress: look("info", "progress", "In progress"),
  succeeded: look("good", "check", "Succeeded"),
  failed: look("bad", "cross", "Failed"),
  rolled_back: look("warn", "undo", "Rolled back"),
  failed_rollback: look("bad", "alert", "Rollback failed"),
  skipped: look("neutral", "dash", "Skipped"),
};

export const PHASE_LABELS: Record<UpgradePhase, string> = {
  PREPARING: "Preparing",
  STOPPED: "Stopped",
  MUTATING: "Mutating",
  STARTING: "Starting",
  VERIFYING: "Verifying",
};

export const NODE_STATE_LOOKS: Record<NodeState, Look> = {
  active: look("good", "check", "Active"),
  maintenance: look("info", "pause", "Maintenance"),
  degraded: look("warn", "alert", "Degraded"),
  down: look("bad", "cross", "Down"),
  failed: look("bad", "cross", "Failed"),
};

export const HEALTH_LOOKS = {
  ok: look("good", "check", "Healthy"),
  degraded: look("warn", "alert", "Degraded"),
  critical: look("bad", "cross", "Critical"),
  unknown: look("warn", "dash", "Unknown"),
} as const satisfies Record<ClaimedHealth, Look>;

export const SYNC_LOOKS = {
  synced: look("good", "check", "Synced"),
  syncing: look("info", "progress", "Syncing"),
  stalled: look("bad", "alert", "Stalled"),
  unknown: look("warn", "dash", "Unknown"),
} as const satisfies Record<ClaimedSync, Look>;
