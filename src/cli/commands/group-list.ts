import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { emptyNote } from "../empty-note.ts";
import { listGroups } from "../group/find.ts";
import { groupTable } from "../group/text.ts";
import { count, optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  status: z.string().optional(),
  profile: z.string().optional(),
  limit: count(1, 10_000),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { status, profile, limit } = optionsOf(Options, call.options);
    const groups = await listGroups(api, { status, chain_profile_id: profile }, limit);
    const none = "no group: make one with `fairlead group create`";
    return {
      data: { groups },
      text: groupTable(groups, call.io.now()),
      ...(groups.length === 0 ? { notes: emptyNote("group", { status, profile }, none) } : {}),
    };
  });
