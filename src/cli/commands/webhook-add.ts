/** Adds a webhook. Its signing secret comes once, here: into a file that only the operator reads, or on stdout. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { WebhookCreate, WebhookCreated } from "../../core/protocol/incident-api.ts";
import type { Call, Result } from "../call.ts";
import { keepSecret } from "../keep-secret.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({ url: z.string(), event: z.array(z.string()), out: z.string().optional() });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { url, event, out } = optionsOf(Options, call.options);
    const wish = wishOf(call.args[0]!, url, event);
    const created = await api.post("/api/v1/webhooks", wish, WebhookCreated);
    const { webhook, secret } = created;
    const added = `webhook ${webhook.name} (${webhook.id}) is added`;
    if (out === undefined)
      return { data: created, text: secret, notes: `${added}; this is its signing secret, shown once` };
    const file = await keepSecret(out, secret, () => api.delete(`/api/v1/webhooks/${webhook.id}`));
    return { data: { webhook, secret_file: file }, text: `${added}; its signing secret is in ${file}` };
  });

function wishOf(name: string, url: string, events: readonly string[]): WebhookCreate {
  const wish = WebhookCreate.safeParse({ name, url, ...(events.length === 0 ? {} : { events }) });
  if (wish.success) return wish.data;
  const { path, message } = wish.error.issues[0]!;
  throw new FairleadError("USAGE", `${String(path[0])}: ${message}`);
}
