/** Groups, incidents and webhooks as a server answers them, whole and valid. */
import { GroupView } from "../../../src/core/protocol/group-api.ts";
import { DeliveryView, IncidentView, WebhookView } from "../../../src/core/protocol/incident-api.ts";
import { rolloutSample, uuid } from "./samples.ts";

export const GROUP_ID = "9a2b0000-0000-4000-8000-000000000009";
export const INCIDENT_ID = "7c1e0000-0000-4000-8000-000000000007";
export const WEBHOOK_ID = "5d000000-0000-4000-8000-000000000005";
export const DELIVERY_ID = "0b9a0000-0000-4000-8000-000000000006";
const AT = "2026-01-01T00:00:00.000Z";

export const componentSample = (index: number, name: string, more: Parameters<typeof rolloutSample>[0]) => ({
  component_index: index,
  binary_name: name,
  rollout: rolloutSample({
    id: uuid(0xc0 + index),
    group_id: GROUP_ID,
    component_index: index,
    binary_name: name,
    ...more,
  }),
});

export const groupSample = (more: Partial<Record<keyof GroupView, unknown>> = {}): GroupView =>
  GroupView.parse({
    id: GROUP_ID,
    chain_profile_id: "validator",
    status: "running",
    failure_policy: "rollback_all",
    strategy: "rolling",
    desired_versions: { consensus: "2.0.0", execution: "2.0.0" },
    current_component: 1,
    health_wait_seconds: 60,
    gate_until: null,
    pause_requested: false,
    cancel_requested: false,
    why: null,
    components: [
      componentSample(0, "consensus", { status: "completed", why: null }),
      componentSample(1, "execution", { status: "running" }),
      componentSample(2, "proxy", { status: "pending", why: null, current_batch: -1 }),
    ],
    created_by: "admin",
    created_at: AT,
    started_at: AT,
    ended_at: null,
    ...more,
  });

export const incidentSample = (more: Partial<Record<keyof IncidentView, unknown>> = {}): IncidentView =>
  IncidentView.parse({
    id: INCIDENT_ID,
    category: "upgrade_failed",
    severity: "critical",
    status: "open",
    node_id: uuid(1),
    node_name: "node-1",
    rollout_id: null,
    subject: "",
    last_seen_at: null,
    title: "node-1 did not come back",
    detail: { code: "BACKUP_CORRUPT" },
    recovery_plan: "1. stop the node\n2. restore the backup",
    opened_at: AT,
    acknowledged_at: null,
    acknowledged_by: null,
    resolved_at: null,
    resolved_by: null,
    note: null,
    ...more,
  });

export const webhookSample = (more: Partial<Record<keyof WebhookView, unknown>> = {}): WebhookView =>
  WebhookView.parse({
    id: WEBHOOK_ID,
    name: "on-call",
    url: "https://hooks.example/x",
    events: ["incident_opened"],
    enabled: true,
    created_by: "admin",
    created_at: AT,
    ...more,
  });

export const deliverySample = (more: Partial<Record<keyof DeliveryView, unknown>> = {}): DeliveryView =>
  DeliveryView.parse({
    id: DELIVERY_ID,
    webhook_id: WEBHOOK_ID,
    kind: "incident_opened",
    status: "failed",
    attempts: 3,
    next_attempt_at: null,
    last_status: 500,
    last_error: "HTTP 500",
    created_at: AT,
    delivered_at: null,
    ...more,
  });
