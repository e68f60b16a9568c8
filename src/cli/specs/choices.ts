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
