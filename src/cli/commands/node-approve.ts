import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { NodeApproved, type NodeApproveRequest } from "../../core/protocol/enrollment-key-api.ts";
import type { NodeView } from "../../core/protocol/operator-api.ts";
import type { Api } from "../api.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { listNodes } from "../pages.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  all: z.boolean().default(false),
  keyId: z.string().optional(),
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { all, keyId, reason } = optionsOf(Options, call.options);
    const [name] = call.args;
    if (all === (name !== undefined)) throw new FairleadError("USAGE", "name a node, or say --all");
    const waiting = await waitingNodes(api, name);
    const body = (node: NodeView): NodeApproveRequest => ({
      // The machine that was listed is the one that is approved.
      ...optional("key_id", keyId ?? node.pending?.key_id),
      ...optional("reason", reason),
    });
    const approved: NodeApproved[] = [];
    for (const node of waiting)
      approved.push(await api.post(`/api/v1/nodes/${node.id}/approve`, body(node), NodeApproved));
    const text = approved.map((node) => `node ${node.name} is approved: key ${node.key_id}`).join("\n");
    const notes = approved.length === 0 ? "no machine waits for an approval" : undefined;
    return { data: { approved }, text, ...(notes === undefined ? {} : { notes }) };
  });

async function waitingNodes(api: Api, name: string | undefined): Promise<NodeView[]> {
  if (name !== undefined) return [await resolveNode(api, name)];
  return (await listNodes(api)).filter(({ pending }) => pending !== null);
}

const optional = <K extends string>(key: K, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [name in K]?: string };
