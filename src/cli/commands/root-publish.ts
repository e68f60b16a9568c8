/** Uploads a trust bundle that enough root keys have signed. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Call, Result } from "../call.ts";
import { openBundle } from "../keys/believe.ts";
import { BUNDLE_BYTES_MAX } from "../keys/bundle-copy.ts";
import { abandonedNodes, openNewest } from "../keys/change.ts";
import { missingSignatures } from "../keys/draft.ts";
import { finish } from "../keys/finish.ts";
import { refuseAltered } from "../keys/refuse-altered.ts";
import { readNamedFile } from "../operator-files.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  abandon: z.array(z.string()),
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const { abandon, reason } = optionsOf(Options, call.options);
    const file = call.args[0]!;
    const bundle = openBundle(await readNamedFile("<file>", file, BUNDLE_BYTES_MAX));
    const { bundle: before } = await openNewest(call, session);
    refuseAltered(bundle, before);
    const missing = missingSignatures(bundle.frame, before.content.root, bundle.content.root);
    if (missing.count > 0)
      throw new FairleadError(
        "ROOT_SIGNATURES_MISSING",
        `${missing.count} more root signatures are needed, of: ${missing.of.map((id) => id.slice(0, 12)).join(", ")}`,
        { missing: missing.count, missing_of: missing.of },
      );
    return finish(call, session, {
      bundle,
      before,
      abandon: await abandonedNodes(session, abandon),
      reason,
    });
  });
