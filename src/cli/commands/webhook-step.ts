/** enable, disable and test: one shape, three words. */
import { WebhookView } from "../../core/protocol/incident-api.ts";
import type { Call, Result } from "../call.ts";
import { withSession } from "../session.ts";
import { resolveWebhook } from "../webhook/find.ts";

export const webhookCommand = (step: "enable" | "disable") => ({
  run: (call: Call): Promise<Result> =>
    withSession(call, async ({ api }) => {
      const { id } = await resolveWebhook(api, call.args[0]!);
      const webhook = await api.post(`/api/v1/webhooks/${id}/${step}`, {}, WebhookView);
      return {
        data: webhook,
        text: `webhook ${webhook.name} is ${webhook.enabled ? "enabled" : "disabled"}`,
      };
    }),
});
