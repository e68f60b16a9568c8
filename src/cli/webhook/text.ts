/** Webhooks and what was sent to them, for people. */
import { NOTIFICATIONS, type DeliveryView, type WebhookView } from "../../core/protocol/incident-api.ts";
import { ageOf } from "../duration.ts";
import { fields, table } from "../output.ts";

export function webhookTable(hooks: readonly WebhookView[]): string {
  if (hooks.length === 0) return "";
  return table(
    ["NAME", "ID", "ENABLED", "EVENTS", "URL"],
    hooks.map((hook) => [
      hook.name,
      hook.id.slice(0, 8),
      hook.enabled ? "yes" : "no",
      eventsText(hook),
      hook.url,
    ]),
  );
}

export const webhookText = (hook: WebhookView): string =>
  fields([
    ["webhook", hook.id],
    ["name", hook.name],
    ["url", hook.url],
    ["enabled", hook.enabled ? "yes" : "no"],
    ["events", hook.events.join(", ")],
    ["created", `${hook.created_at} by ${hook.created_by}`],
  ]);

const eventsText = ({ events }: WebhookView): string =>
  events.length === NOTIFICATIONS.length ? "all" : events.join(", ");

export function deliveryTable(deliveries: readonly DeliveryView[], now: number): string {
  if (deliveries.length === 0) return "";
  return table(
    ["ID", "EVENT", "STATUS", "ATTEMPTS", "ANSWER", "CREATED", "ERROR"],
    deliveries.map((delivery) => [
      delivery.id,
      delivery.kind,
      delivery.status,
      String(delivery.attempts),
      delivery.last_status === null ? "-" : String(delivery.last_status),
      `${ageOf(delivery.created_at, now)} ago`,
      delivery.last_error ?? "",
    ]),
  );
}
