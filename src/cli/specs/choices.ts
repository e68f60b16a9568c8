/**
 * Words that help and completion offer. They stand in core too, but there beside schemas,
 * and loading zod would cost `--help` half of its time; a test keeps both the same.
 */
export const NODE_ROLES = ["core_mesh", "ingress", "egress_service", "storage_config", "thin"] as const;
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
export const MODEL_KINDS = ["organization", "policy", "secret-ref", "service", "storage-endpoint"] as const;
export const LIFTABLE_KINDS = [
  "role_assignment",
  "service_assignment",
  "peer",
  "storage_endpoint",
  "degraded_permission",
  "artifact",
  "run",
] as const;
export const REVOCATION_KINDS = ["signing_key", "node_identity", ...LIFTABLE_KINDS] as const;
export const DEGRADED_ACTIONS = [
  "continue_services",
  "preserve_routes",
  "reconnect_peers",
  "validate_peers",
  "use_storage_endpoints",
  "report_status",
] as const;
export const SCOPES = [
  "node_bootstrap",
  "node_runtime",
  "peer_directory",
  "service_assignment",
  "route_policy",
  "qos_policy",
  "trust_bundle",
  "storage_directory",
  "degraded_mode_policy",
] as const;
export const KEY_AUTHORITIES = ["root", "online", "release", "publisher"] as const;
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
export const INCIDENT_STATUSES = ["open", "acknowledged", "resolved"] as const;
export const INCIDENT_CATEGORIES = [
  "upgrade_failed",
  "upgrade_rollback_failed",
  "upgrade_stalled",
  "clock_disagrees",
  "identity_copied",
  "started_on_expired_authority",
  "intent_untrusted",
  "node_down",
  "crash_loop",
  "snapshot_rejected",
  "certificate_expiring",
  "key_expiring",
] as const;
export const NOTIFICATIONS = [
  "rollout_started",
  "rollout_completed",
  "rollout_paused",
  "rollout_failed",
  "rollback_initiated",
  "rollback_completed",
  "incident_opened",
  "incident_resolved",
] as const;
export const SCOPES_GRANTED = ["admin"] as const;
export const STRATEGIES = ["rolling", "canary", "all_at_once"] as const;
export const RUNTIMES = ["process", "systemd", "docker"] as const;
