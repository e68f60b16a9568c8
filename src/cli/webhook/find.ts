/** Webhooks: listed, and found by name or id. */
import { WebhookId, WebhookList, WebhookView } from "../../core/protocol/incident-api.ts";
import type { Api } from "../api.ts";
import { byPrefix, only } from "../resolve.ts";

export const listWebhooks = async (api: Api): Promise<WebhookView[]> =>
  (await api.get("/api/v1/webhooks", WebhookList)).webhooks;

export async function resolveWebhook(api: Api, text: string): Promise<WebhookView> {
  const id = WebhookId.safeParse(text);
  if (id.success) return api.get(`/api/v1/webhooks/${id.data}`, WebhookView);
  const hooks = await listWebhooks(api);
  const named = hooks.filter((hook) => hook.name === text);
  const found = named.length > 0 ? named : byPrefix(hooks, text);
  return only("webhook", text, found, (hook) => `${hook.name} (${hook.id})`);
}
