import { z } from "zod";
import { ApiKeyView } from "../../core/protocol/api-key-api.ts";
import { resolveApiKey } from "../api-key/find.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({ reason: z.string().optional(), force: z.boolean().default(false) });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { reason, force } = optionsOf(Options, call.options);
    const { id } = await resolveApiKey(api, call.args[0]!);
    const wish = { force, ...(reason === undefined ? {} : { reason }) };
    const key = await api.post(`/api/v1/api-keys/${id}/revoke`, wish, ApiKeyView);
    return { data: key, text: `API key ${key.name} (${key.id}) is revoked since ${key.revoked_at}` };
  });
