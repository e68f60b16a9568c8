import { GrantList } from "../../core/protocol/grant-api.ts";
import type { Call, Result } from "../call.ts";
import { table } from "../output.ts";
import { everyPage, queryOf } from "../pages.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const grants = await everyPage(async (page) => {
      const { grants: items, next_cursor } = await api.get(`/api/v1/grants?${queryOf(page)}`, GrantList);
      return { items, next: next_cursor };
    });
    const rows = grants.map(({ issuer, subject, scopes, granted_by, granted_at }) => [
      subject,
      issuer,
      scopes.join(", ") || "-",
      granted_by,
      granted_at,
    ]);
    const none = grants.length === 0 ? { notes: "no grant: make one with `fairlead grant set`" } : {};
    const text = table(["SUBJECT", "ISSUER", "SCOPES", "GRANTED BY", "AT"], rows);
    return { data: { grants }, text, ...none };
  });
