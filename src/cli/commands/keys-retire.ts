/** Out with a key that is needed no more: a bundle without it, taken when no node needs it. */
import { z } from "zod";
import { KeyView } from "../../core/protocol/keys-api.ts";
import type { Call, Result } from "../call.ts";
import { abandonedNodes, changeBundle, ChangeOptions, openNewest } from "../keys/change.ts";
import { pickKey } from "../keys/pick-key.ts";
import { count, DurationMs, optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  abandon: z.array(z.string()),
  deadline: DurationMs,
  threshold: count(1, 16).optional(),
  ...ChangeOptions,
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    const { key_id, authority } = await pickKey(session.api, call.args[0]!);
    const abandon = await abandonedNodes(session, options.abandon);
    const begun =
      authority === "root"
        ? null
        : await session.api.post(`/api/v1/keys/${key_id}/retire`, { deadline_ms: options.deadline }, KeyView);
    if (begun?.state === "retired")
      return { data: begun, text: `key ${key_id.slice(0, 12)} was never published and is gone` };
    const { threshold } = options;
    return changeBundle(call, session, {
      options,
      newest: await openNewest(call, session),
      changes: [{ kind: "retire", keyId: key_id, ...(threshold === undefined ? {} : { threshold }) }],
      abandon,
      data: { key_id, authority },
    });
  });
