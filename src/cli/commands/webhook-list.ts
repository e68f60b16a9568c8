import type { Call, Result } from "../call.ts";
import { withSession } from "../session.ts";
import { listWebhooks } from "../webhook/find.ts";
import { webhookTable } from "../webhook/text.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const webhooks = await listWebhooks(api);
    const none = webhooks.length === 0 ? { notes: "no webhook: add one with `fairlead webhook add`" } : {};
    return { data: { webhooks }, text: webhookTable(webhooks), ...none };
  });
