/** Scopes for somebody who signs in at the site's OpenID issuer. */
import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  issuer: z.string().min(1).max(500),
  subject: z.string().min(1).max(255),
  scope: z.array(z.string()),
});
const Granted = z.object({ issuer: z.string(), subject: z.string(), scopes: z.array(z.string()) });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { issuer, subject, scope: scopes } = optionsOf(Options, call.options);
    const granted = await api.post("/api/v1/grants", { issuer, subject, scopes }, Granted);
    const what = granted.scopes.length === 0 ? "nothing any more" : granted.scopes.join(", ");
    return { data: granted, text: `${subject} of ${issuer} may use: ${what}` };
  });
