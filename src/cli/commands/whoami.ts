import { WhoAmI } from "../../core/protocol/operator-api.ts";
import type { Call, Result } from "../call.ts";
import { fields } from "../output.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api, name, context }) => {
    const who = await api.get("/api/v1/whoami", WhoAmI);
    const text = fields([
      ["user", who.user],
      ["scopes", who.scopes.join(", ") || "none"],
      ["cluster", who.cluster_id],
      [
        "intents",
        who.intents_required ? "required" : "not required: the control plane alone decides what runs",
      ],
      ["context", `${name} (${context.server})`],
    ]);
    return { data: { ...who, context: name, server: context.server }, text };
  });
