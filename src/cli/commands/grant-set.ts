/** Scopes for somebody who signs in at the site's OpenID issuer. */
import { z } from "zod";
import { GrantView } from "../../core/protocol/grant-api.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  issuer: z.string(),
  subject: z.string(),
  scope: z.array(z.string()),
  reason: z.string().optional(),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { issuer, subject, scope: scopes, reason } = optionsOf(Options, call.options);
    const body = { issuer, subject, scopes, ...(reason === undefined ? {} : { reason }) };
    const granted = await api.post("/api/v1/grants", body, GrantView);
    const what = granted.scopes.length === 0 ? "nothing any more" : granted.scopes.join(", ");
    return { data: granted, text: `${subject} of ${issuer} may use: ${what}` };
  });
