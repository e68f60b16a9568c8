/** Answers of a server, whole and valid. */
import {
  EventView,
  NodeUpgradeView,
  NodeView,
  RolloutView,
} from "../../../src/core/protocol/operator-api.ts";

export const ROLLOUT_ID = "3f2a0000-0000-4000-8000-000000000001";
export const uuid = (n: number): string => `${n.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
const DIGEST = `sha256:${"1".repeat(64)}`;

export const rolloutSample = (more: Partial<Record<keyof RolloutView, unknown>> = {}): RolloutView =>
  RolloutView.parse({
    id: ROLLOUT_ID,
    group_id: null,
    component_index: null,
    chain_profile_id: "demo-http",
    node_type: "small",
    node_labels: {},
    upgrade_id: "v2",
    runtime: "process",
    binary_name: "demo",
    source_version: "1.0.0",
    target_version: "2.0.0",
    target_binary_url: "http://127.0.0.1:1/demo",
    target_binary_checksum: DIGEST,
    manifest_content_hash: DIGEST,
    migration_type: "none",
    rollback_tier: 1,
    strategy: "rolling",
    canary_size: 0,
    force_continue: false,
    skip_validation: false,
    max_unavailable: null,
    batch_size: 2,
    batch_count: 3,
    current_batch: 0,
    failure_threshold: 0,
    health_wait_seconds: 2,
    health_until: null,
    status: "running",
    pause_requested: false,
    cancel_requested: false,
    rollback_requested: false,
    rollback_allowed: true,
    canary_approved_by: null,
    canary_approved_at: null,
    why: { code: "UPGRADING", text: "batch 1 of 3: 2 nodes at work" },
    silent_nodes: 0,
    counters: {
      total: 5,
      pending: 3,
      in_progress: 2,
      succeeded: 0,
      failed: 0,
      rolled_back: 0,
      failed_rollback: 0,
      skipped: 0,
    },
    intent: { digest: DIGEST, not_after: "2026-01-02T00:00:00.000Z", serial: 1_000, voided: false },
    created_by: "admin",
    created_at: "2026-01-01T00:00:00.000Z",
    started_at: "2026-01-01T00:00:00.000Z",
    ended_at: null,
    ...more,
  });

export const upgradeSample = (
  n: number,
  more: Partial<Record<keyof NodeUpgradeView, unknown>> = {},
): NodeUpgradeView =>
  NodeUpgradeView.parse({
    node_id: uuid(n),
    node_name: `node-${n}`,
    batch_index: Math.floor((n - 1) / 2),
    status: "pending",
    upgrade_phase: null,
    action_index: null,
    action_name: null,
    progress_pct: 0,
    waiting_for: null,
    direction: "forward",
    attempt_count: 0,
    previous_version: "1.0.0",
    previous_checksum: DIGEST,
    error_code: null,
    error_message: null,
    retry_requested: false,
    silent_since: null,
    started_at: null,
    ended_at: null,
    ...more,
  });

export const profileSample = (more: Record<string, unknown> = {}) => ({
  chain_profile_id: "demo-http",
  state: "active",
  binary_version: "1.0.0",
  ...more,
});

export const nodeSample = (n: number, more: Partial<Record<keyof NodeView, unknown>> = {}): NodeView =>
  NodeView.parse({
    id: uuid(n),
    name: `node-${n}`,
    state: "active",
    contact: "current",
    profiles: [profileSample()],
    node_type: "small",
    roles: ["egress_service"],
    labels: {},
    enrolled: true,
    revoked_at: null,
    last_heartbeat_at: "2026-01-01T00:00:00.000Z",
    agent_version: "0.1.0",
    programs: [],
    applied: { trust_bundle: { epoch: 1, version: 1 } },
    last_rejection: null,
    certificate_expires_at: null,
    ...more,
  });

export const eventSample = (
  id: number,
  kind: string,
  data: Record<string, unknown>,
  node?: number,
): EventView =>
  EventView.parse({
    id,
    at: `2026-01-01T00:00:${String(id).padStart(2, "0")}.000Z`,
    kind,
    rollout_id: ROLLOUT_ID,
    group_id: null,
    node_id: node === undefined ? null : uuid(node),
    actor: null,
    data,
  });

export const eventText = (event: EventView): string =>
  `id: ${event.id}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
