/** Rows and events as the operators' API gives them, with what a test is not about filled in. */
import type { FleetEvent } from "../../../src/console/api/events.ts";
import type { NodeUpgradeView, NodeView, RolloutView } from "../../../src/core/protocol/operator-api.ts";

const uuid = (kind: string, index: number) =>
  `${kind.repeat(8)}-0000-4000-8000-${String(index).padStart(12, "0")}`;
export const nodeIdOf = (index: number) => uuid("a", index);
export const AT = "2026-01-31T12:00:00.000Z";

export const upgrade = (index: number, over: Partial<NodeUpgradeView> = {}): NodeUpgradeView => ({
  node_id: nodeIdOf(index) as NodeUpgradeView["node_id"],
  node_name: `node-${index}`,
  batch_index: 0,
  status: "pending",
  upgrade_phase: null,
  action_index: null,
  action_name: null,
  progress_pct: 0,
  waiting_for: null,
  direction: "forward",
  attempt_count: 0,
  previous_version: "1.0.0",
  previous_checksum: null,
  error_code: null,
  error_message: null,
  retry_requested: false,
  silent_since: null,
  started_at: null,
  ended_at: null,
  ...over,
});

const digest = `sha256:${"0".repeat(64)}` as RolloutView["target_binary_checksum"];

export const rollout = (over: Partial<RolloutView> = {}): RolloutView => ({
  id: uuid("b", 1) as RolloutView["id"],
  group_id: null,
  component_index: null,
  chain_profile_id: "harbor" as RolloutView["chain_profile_id"],
  node_type: "full",
  node_labels: {},
  upgrade_id: null,
  runtime: "process",
  binary_name: "harbor",
  source_version: "1.0.0",
  target_version: "2.0.0",
  target_binary_url: "http://127.0.0.1/harbor",
  target_binary_checksum: digest,
  manifest_content_hash: digest,
  migration_type: "none",
  rollback_tier: 1,
  strategy: "rolling",
  canary_size: 0,
  force_continue: false,
  skip_validation: false,
  max_unavailable: null,
  batch_size: 2,
  batch_count: 2,
  current_batch: 0,
  failure_threshold: 0.2,
  health_wait_seconds: 60,
  health_until: null,
  status: "running",
  pause_requested: false,
  cancel_requested: false,
  rollback_requested: false,
  rollback_allowed: true,
  canary_approved_by: null,
  canary_approved_at: null,
  why: null,
  silent_nodes: 0,
  counters: {
    total: 4,
    pending: 4,
    in_progress: 0,
    succeeded: 0,
    failed: 0,
    rolled_back: 0,
    failed_rollback: 0,
    skipped: 0,
  },
  intent: null,
  created_by: "mara",
  created_at: AT,
  started_at: null,
  ended_at: null,
  ...over,
});

export const profileOf = (binary_version: string | null, name = "harbor"): NodeView["profiles"][number] => ({
  chain_profile_id: name as NodeView["profiles"][number]["chain_profile_id"],
  state: "active",
  binary_version,
});

export const fleetNode = (index: number, over: Partial<NodeView> = {}): NodeView => ({
  id: nodeIdOf(index) as NodeView["id"],
  pending: null,
  name: `node-${index}`,
  state: "active",
  contact: "current",
  profiles: [profileOf("1.2")],
  node_type: "full",
  roles: ["egress_service"],
  labels: {},
  enrolled: true,
  revoked_at: null,
  replaces: null,
  replaced_by: null,
  copies: [],
  last_heartbeat_at: AT,
  agent_version: "0.1.0",
  programs: [],
  applied: {},
  last_rejection: null,
  certificate_expires_at: null,
  ...over,
});

export const program = (over: Partial<NodeView["programs"][number]> = {}): NodeView["programs"][number] => ({
  chain_profile_id: "harbor" as NodeView["programs"][number]["chain_profile_id"],
  application_health: "ok",
  sync_status: "synced",
  running_fingerprint: null,
  installed_fingerprint: null,
  version: null,
  instance_id: null,
  started_at: null,
  restarts: 0,
  as_of: AT,
  last_reported: { application_health: "ok", sync_status: "synced" },
  ...over,
});

/** Ids rise in the order of the calls' first argument. */
export const event = <K extends FleetEvent["kind"]>(
  id: number,
  kind: K,
  data: Extract<FleetEvent, { kind: K }>["data"],
  over: { at?: string; actor?: string; nodeId?: string } = {},
): FleetEvent => ({ id, kind, data, at: AT, actor: null, nodeId: null, ...over }) as FleetEvent;

type UpgradeData = Extract<FleetEvent, { kind: "node.upgrade" }>["data"];

export const upgradeEvent = (id: number, node: number, data: Partial<UpgradeData>): FleetEvent =>
  event(
    id,
    "node.upgrade",
    { status: "in_progress", phase: null, action: null, waitingFor: null, error: null, ...data },
    { nodeId: nodeIdOf(node) },
  );
