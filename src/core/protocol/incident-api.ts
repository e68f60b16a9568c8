/** Incidents and webhooks as the operators' API shows them. */
import { z } from "zod";
import { Instant, Name, NodeId, RolloutId, Uuid } from "../ids.ts";
import { IncidentCategory, IncidentStatus, Severity } from "../incident/states.ts";
import { LIMITS } from "../limits.ts";

export const IncidentId = Uuid.brand<"IncidentId">();
export type IncidentId = z.infer<typeof IncidentId>;
export const WebhookId = Uuid.brand<"WebhookId">();
export type WebhookId = z.infer<typeof WebhookId>;

export const IncidentView = z.object({
  id: IncidentId,
  category: IncidentCategory,
  severity: Severity,
  status: IncidentStatus,
  node_id: NodeId.nullable(),
  node_name: z.string().nullable(),
  rollout_id: RolloutId.nullable(),
  /** Empty where node or rollout say it all. */
  subject: z.string(),
  title: z.string(),
  detail: z.record(z.string(), z.unknown()),
  recovery_plan: z.string().nullable(),
  opened_at: Instant,
  /** When the trouble was last there; null where only a person can tell. */
  last_seen_at: Instant.nullable(),
  acknowledged_at: Instant.nullable(),
  acknowledged_by: z.string().nullable(),
  resolved_at: Instant.nullable(),
  resolved_by: z.string().nullable(),
  note: z.string().nullable(),
});
export type IncidentView = z.infer<typeof IncidentView>;
export const IncidentList = z.object({
  incidents: z.array(IncidentView),
  next_cursor: z.string().nullable(),
});
export type IncidentList = z.infer<typeof IncidentList>;

/** `POST /api/v1/incidents/{id}/acknowledge|resolve` */
export const IncidentStepRequest = z.strictObject({ note: z.string().max(LIMITS.reasonCharsMax).optional() });
export type IncidentStepRequest = z.infer<typeof IncidentStepRequest>;

/** What is told to others (ROLL-19). `incident.*` besides the seed's six. */
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
export const Notification = z.enum(NOTIFICATIONS);
export type Notification = z.infer<typeof Notification>;

export const WebhookCreate = z.strictObject({
  name: Name,
  /** http or https, without user and password. */
  url: z.string().min(1).max(2048),
  events: z
    .array(Notification)
    .min(1)
    .max(NOTIFICATIONS.length)
    .default([...NOTIFICATIONS]),
});
export type WebhookCreate = z.infer<typeof WebhookCreate>;

export const WebhookView = z.object({
  id: WebhookId,
  name: z.string(),
  url: z.string(),
  events: z.array(Notification),
  enabled: z.boolean(),
  created_by: z.string(),
  created_at: Instant,
});
export type WebhookView = z.infer<typeof WebhookView>;
export const WebhookList = z.object({ webhooks: z.array(WebhookView) });
export type WebhookList = z.infer<typeof WebhookList>;

/** The secret is answered once, at creation: `whsec_<base64>`. */
export const WebhookCreated = z.object({ webhook: WebhookView, secret: z.string() });
export type WebhookCreated = z.infer<typeof WebhookCreated>;

export const DeliveryId = Uuid.brand<"DeliveryId">();
export type DeliveryId = z.infer<typeof DeliveryId>;

export const DeliveryView = z.object({
  /** Receivers see it as `webhook-id`, the same with every attempt. */
  id: DeliveryId,
  webhook_id: WebhookId,
  kind: z.enum([...NOTIFICATIONS, "test"]),
  status: z.enum(["pending", "delivered", "failed"]),
  attempts: z.int(),
  next_attempt_at: Instant.nullable(),
  last_status: z.int().nullable(),
  last_error: z.string().nullable(),
  created_at: Instant,
  delivered_at: Instant.nullable(),
});
export type DeliveryView = z.infer<typeof DeliveryView>;
export const DeliveryList = z.object({
  deliveries: z.array(DeliveryView),
  next_cursor: z.string().nullable(),
});
export type DeliveryList = z.infer<typeof DeliveryList>;
