import { z } from "zod";
import { LIMITS } from "../../core/limits.ts";
import { NodeView } from "../../core/protocol/operator-api.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";

const Options = z.object({ reason: z.string().max(LIMITS.reasonCharsMax).optional() });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { reason } = optionsOf(Options, call.options);
    const { id } = await resolveNode(api, call.args[0]!);
    const node = await api.post(
      `/api/v1/nodes/${id}/revoke`,
      reason === undefined ? {} : { reason },
      NodeView,
    );
    const text = `node ${node.name} (${node.id}) is revoked: its connections are closed and it is refused from now on`;
    return { data: node, text };
  });
