import { listApiKeys } from "../api-key/find.ts";
import type { Call, Result } from "../call.ts";
import { table } from "../output.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const keys = await listApiKeys(api);
    const rows = keys.map(({ id, name, scopes, created_at, revoked_at }) => [
      name,
      id.slice(0, 8),
      scopes.join(", ") || "-",
      created_at,
      revoked_at ?? "-",
    ]);
    return { data: { keys }, text: table(["NAME", "ID", "SCOPES", "CREATED", "REVOKED"], rows) };
  });
