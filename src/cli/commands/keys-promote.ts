import { z } from "zod";
import { KeyView } from "../../core/protocol/keys-api.ts";
import type { Call, Result } from "../call.ts";
import { abandonedNodes } from "../keys/change.ts";
import { pickKey } from "../keys/pick-key.ts";
import { DurationMs, optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({ abandon: z.array(z.string()), deadline: DurationMs });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const { abandon, deadline } = optionsOf(Options, call.options);
    const { key_id } = await pickKey(session.api, call.args[0]!);
    const body = { abandon: await abandonedNodes(session, abandon), deadline_ms: deadline };
    const key = await session.api.post(`/api/v1/keys/${key_id}/promote`, body, KeyView);
    return {
      data: key,
      text: `key ${key_id.slice(0, 12)} signs from now on; the one before signs beside it until it is retired`,
    };
  });
