import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";
import { listAuthority, readNodeSnapshots } from "../snapshot/read.ts";
import { fleetTable, scopeTable } from "../snapshot/text.ts";

const Options = z.object({ attention: z.boolean().default(false) });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { attention } = optionsOf(Options, call.options);
    const [word] = call.args;
    if (word !== undefined) {
      const node = await readNodeSnapshots(api, (await resolveNode(api, word)).id);
      return { data: node, text: scopeTable(node, call.io.now()) };
    }
    const nodes = await listAuthority(api, attention);
    const none = attention ? "every snapshot is in force" : "no node is enrolled";
    return {
      data: { nodes },
      text: fleetTable(nodes, call.io.now()),
      ...(nodes.length === 0 ? { notes: none } : {}),
    };
  });
