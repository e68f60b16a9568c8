import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { emptyNote } from "../empty-note.ts";
import { healthSummary, nodeTable } from "../node-text.ts";
import { optionsOf } from "../options.ts";
import { listNodes } from "../pages.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  profile: z.string().optional(),
  type: z.string().optional(),
  version: z.string().optional(),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { profile, type, version } = optionsOf(Options, call.options);
    const query = { chain_profile_id: profile, node_type: type, binary_version: version };
    const nodes = await listNodes(api, query);
    const none = "no node: make a token with `fairlead node token` and start an agent with it";
    const notes =
      nodes.length === 0 ? emptyNote("node", { profile, type, version }, none) : healthSummary(nodes);
    return { data: { nodes }, text: nodeTable(nodes, call.io.now()), notes };
  });
