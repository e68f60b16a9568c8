import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { emptyNote } from "../empty-note.ts";
import { count, optionsOf } from "../options.ts";
import { listRollouts } from "../pages.ts";
import { rolloutTable } from "../rollout-text.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  status: z.string().optional(),
  profile: z.string().optional(),
  limit: count(1, 10_000),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { status, profile, limit } = optionsOf(Options, call.options);
    const rollouts = await listRollouts(api, { status, chain_profile_id: profile }, limit);
    const none = "no rollout: make one with `fairlead rollout create`";
    return {
      data: { rollouts },
      text: rolloutTable(rollouts, call.io.now()),
      ...(rollouts.length === 0 ? { notes: emptyNote("rollout", { status, profile }, none) } : {}),
    };
  });
