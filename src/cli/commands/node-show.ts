import { nextOf } from "../../core/errors.ts";
import type { Call, Result } from "../call.ts";
import { nodeText } from "../node-text.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const node = await resolveNode(api, call.args[0]!);
    const rejection = node.last_rejection;
    const explained = rejection === null ? null : { ...rejection, next: nextOf(rejection.code, "node") };
    return { data: { ...node, last_rejection: explained }, text: nodeText(node, call.io.now()) };
  });
