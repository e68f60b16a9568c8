import type { Call, Result } from "../call.ts";
import { withSession } from "../session.ts";
import { resolveWebhook } from "../webhook/find.ts";
import { webhookText } from "../webhook/text.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const webhook = await resolveWebhook(api, call.args[0]!);
    return { data: webhook, text: webhookText(webhook) };
  });
