import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { count, optionsOf } from "../options.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";
import { readAttempts } from "../timeline/read.ts";
import { timelineText } from "../timeline/text.ts";

const Options = z.object({ limit: count(1, 100) });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { limit } = optionsOf(Options, call.options);
    const { id, name } = await resolveNode(api, call.args[0]!);
    const attempts = (await readAttempts(api, id)).slice(0, limit);
    const none = attempts.length === 0 ? { notes: `${name} was never part of an upgrade` } : {};
    return { data: { node_id: id, attempts }, text: timelineText(attempts, call.paint), ...none };
  });
