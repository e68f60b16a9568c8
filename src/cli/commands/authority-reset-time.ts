/**
 * Lowers the floor of time on every node (SNAP-17): after frames were signed ahead of the true time and taken, nodes
 * refuse what is signed now. The root signs the present time of this machine into a new epoch.
 */
import { z } from "zod";
import { LIMITS } from "../../core/limits.ts";
import { TIME_RESET } from "../../core/snapshot/trust-bundle.ts";
import type { Call, Result } from "../call.ts";
import { ChangeOptions } from "../keys/change.ts";
import { openEpoch } from "../keys/new-epoch.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({ reason: z.string().min(1).max(LIMITS.reasonCharsMax), ...ChangeOptions });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    return openEpoch(call, session, { options, reason: TIME_RESET, note: options.reason });
  });
