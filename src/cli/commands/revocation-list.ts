import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { emptyNote } from "../empty-note.ts";
import { revocationTable } from "../model/revocation-text.ts";
import { listRevocations } from "../model/revocations.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({ kind: z.string().optional() });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { kind } = optionsOf(Options, call.options);
    const revocations = await listRevocations(api, { kind });
    return {
      data: { revocations },
      text: revocationTable(revocations, call.io.now()),
      ...(revocations.length === 0
        ? { notes: emptyNote("revocation", { kind }, "nothing is taken back") }
        : {}),
    };
  });
