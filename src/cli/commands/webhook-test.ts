import { DeliveryView } from "../../core/protocol/incident-api.ts";
import type { Call, Result } from "../call.ts";
import { withSession } from "../session.ts";
import { resolveWebhook } from "../webhook/find.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { id, name } = await resolveWebhook(api, call.args[0]!);
    const delivery = await api.post(`/api/v1/webhooks/${id}/test`, {}, DeliveryView);
    const text = `a test goes to ${name} as delivery ${delivery.id}; see \`fairlead webhook deliveries ${name}\``;
    return { data: delivery, text };
  });
