import { z } from "zod";
import { LIMITS } from "../../core/limits.ts";
import { NodeView } from "../../core/protocol/operator-api.ts";
import type { Call, Result } from "../call.ts";
import { nodeText } from "../node-text.ts";
import { optionsOf } from "../options.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";

const Options = z.object({ reason: z.string().max(LIMITS.reasonCharsMax).optional() });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { reason } = optionsOf(Options, call.options);
    const [action, name, profile] = call.args as [string, string, string];
    const { id } = await resolveNode(api, name);
    const why = reason === undefined ? {} : { reason };
    const node =
      action === "add"
        ? await api.post(`/api/v1/nodes/${id}/profiles`, { chain_profile_id: profile, ...why }, NodeView)
        : await api.post(`/api/v1/nodes/${id}/profiles/${encodeURIComponent(profile)}/remove`, why, NodeView);
    const note =
      action === "add"
        ? `${node.name} takes part in rollouts of ${profile} as soon as its agent reports the program: name it in the agent's config`
        : `${node.name} takes no part in rollouts of ${profile} any more; the program keeps running: take it out of the agent's config`;
    return { data: node, text: nodeText(node, call.io.now()), notes: note };
  });
