/**
 * A new epoch (SNAP-11): after a restored database, nodes refuse the old versions it hands out. The root opens an epoch
 * above everything that was ever seen, and versions begin anew in it.
 */
import { z } from "zod";
import { LIMITS } from "../../core/limits.ts";
import type { Call, Result } from "../call.ts";
import { ChangeOptions } from "../keys/change.ts";
import { openEpoch } from "../keys/new-epoch.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  reason: z.enum(["database_restored", "versions_exhausted", "key_compromised"]),
  note: z.string().max(LIMITS.reasonCharsMax).optional(),
  ...ChangeOptions,
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    return openEpoch(call, session, {
      options,
      reason: options.reason,
      note: options.note ?? options.reason,
    });
  });
