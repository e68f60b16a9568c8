import { z } from "zod";
import { ProfileId, Version } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { NodeAdopted } from "../../core/protocol/operator-api.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { fields } from "../output.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  profile: ProfileId.optional(),
  version: Version.optional(),
  reason: z.string().min(1).max(LIMITS.reasonCharsMax),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { profile, version, reason } = optionsOf(Options, call.options);
    const { id, name } = await resolveNode(api, call.args[0]!);
    const body = {
      reason,
      ...(profile === undefined ? {} : { chain_profile_id: profile }),
      ...(version === undefined ? {} : { version }),
    };
    const adopted = await api.post(`/api/v1/nodes/${id}/adopt`, body, NodeAdopted);
    const { before, after } = adopted;
    const text = fields([
      ["node", `${name} (${id})`],
      ["profile", adopted.chain_profile_id],
      [
        "recorded before",
        before === null ? "nothing" : `${before.binary_version ?? "-"} ${before.fingerprint ?? "-"}`,
      ],
      ["recorded now", `${after.binary_version} ${after.fingerprint}`],
    ]);
    return { data: adopted, text };
  });
