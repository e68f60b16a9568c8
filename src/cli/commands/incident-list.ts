import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { emptyNote } from "../empty-note.ts";
import { listIncidents } from "../incident/find.ts";
import { incidentTable } from "../incident/text.ts";
import { count, optionsOf } from "../options.ts";
import { resolveNode, resolveRollout } from "../resolve.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  status: z.string().optional(),
  category: z.string().optional(),
  rollout: z.string().optional(),
  node: z.string().optional(),
  limit: count(1, 10_000),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { status, category, rollout, node, limit } = optionsOf(Options, call.options);
    const query = {
      status,
      category,
      rollout_id: rollout === undefined ? undefined : (await resolveRollout(api, rollout)).id,
      node_id: node === undefined ? undefined : (await resolveNode(api, node)).id,
    };
    const incidents = await listIncidents(api, query, limit);
    return {
      data: { incidents },
      text: incidentTable(incidents, call.io.now(), call.paint),
      ...(incidents.length === 0
        ? { notes: emptyNote("incident", { status, category, rollout, node }, "no incident") }
        : {}),
    };
  });
