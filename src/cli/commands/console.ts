import { SignInLinkResponse } from "../../core/protocol/operator-api.ts";
import type { Call, Result } from "../call.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const link = await api.post("/api/v1/auth/sign-in-link", {}, SignInLinkResponse);
    return { data: link, text: link.url, notes: `works once, until ${link.expires_at}` };
  });
