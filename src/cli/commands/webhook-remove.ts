import type { Call, Result } from "../call.ts";
import { withSession } from "../session.ts";
import { resolveWebhook } from "../webhook/find.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { id, name } = await resolveWebhook(api, call.args[0]!);
    await api.delete(`/api/v1/webhooks/${id}`);
    return { data: { id, removed: true }, text: `webhook ${name} is removed, and its deliveries with it` };
  });
