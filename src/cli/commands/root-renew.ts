/** The same keys for longer: a trust bundle that has expired is believed no more, and only root keys sign the next. */
import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { changeBundle, ChangeOptions, openNewest } from "../keys/change.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object(ChangeOptions);

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    const newest = await openNewest(call, session);
    return changeBundle(call, session, { options, newest, changes: [{ kind: "renew" }], reason: "renewed" });
  });
