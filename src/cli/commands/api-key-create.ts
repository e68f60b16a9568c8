/** Makes an API key. It comes once, here: into a file that only the operator reads, or alone on stdout. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { ApiKeyCreate, ApiKeyCreated, ApiKeyView } from "../../core/protocol/api-key-api.ts";
import type { Call, Result } from "../call.ts";
import { keepSecret } from "../keep-secret.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({ scope: z.array(z.string()), out: z.string().optional() });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { scope, out } = optionsOf(Options, call.options);
    const wish = wishOf(call.args[0]!, scope);
    const made = await api.post("/api/v1/api-keys", wish, ApiKeyCreated);
    const { key, api_key } = made;
    const added = `API key ${key.name} (${key.id}) is made, with ${key.scopes.join(", ") || "no scope"}`;
    if (out === undefined) return { data: made, text: api_key, notes: `${added}; it is shown once` };
    const file = await keepSecret(out, api_key, () =>
      api.post(`/api/v1/api-keys/${key.id}/revoke`, { force: true }, ApiKeyView),
    );
    return { data: { key, api_key_file: file }, text: `${added}; it is in ${file}` };
  });

function wishOf(name: string, scopes: readonly string[]): ApiKeyCreate {
  const wish = ApiKeyCreate.safeParse({ name, scopes: [...new Set(scopes)] });
  if (wish.success) return wish.data;
  const { path, message } = wish.error.issues[0]!;
  throw new FairleadError("USAGE", `${String(path[0])}: ${message}`);
}
