/**
 * A new epoch (SNAP-11): after a restored database, nodes refuse the old versions it hands out. The root opens an epoch
 * above everything that was ever seen, and versions begin anew in it.
 */
import { z } from "zod";
import { LIMITS } from "../../core/limits.ts";
import type { Call, Result } from "../call.ts";
import { changeBundle, ChangeOptions, openNewest } from "../keys/change.ts";
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
    const newest = await openNewest(call, session);
    const { header } = newest.bundle;
    const { epoch: reportedEpoch, version: reportedVersion } = newest.server.newest_reported ?? NOTHING;
    const epoch = above(Math.max(header.authority_epoch, newest.server.epoch), reportedEpoch);
    const version = above(Math.max(header.config_version, newest.server.version), reportedVersion);
    // Nodes may stand in any epoch up to the newest known: the oldest of them must find its way too.
    const recovery = {
      from_epoch: Math.min(header.authority_epoch, newest.server.epoch),
      reason: options.reason,
      opened_at: new Date(call.io.now()).toISOString(),
    };
    return changeBundle(call, session, {
      options,
      newest,
      changes: [{ kind: "epoch", recovery }],
      at: { epoch, version },
      reason: options.note ?? options.reason,
      data: { recovery },
      next: "fairlead keys list, until every node has confirmed the bundle",
    });
  });

const NOTHING = { epoch: 0, version: 0 };

/** A node may say what it likes: a number far beyond what anybody signed is no reason to go there. */
const REPORTED_AHEAD_MAX = 1_000;

const above = (known: number, reported: number): number =>
  1 + (reported - known > REPORTED_AHEAD_MAX ? known : Math.max(known, reported));
