import type { Call, Result } from "../call.ts";
import { resolveRollout } from "../resolve.ts";
import { rolloutText } from "../rollout-text.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const rollout = await resolveRollout(api, call.args[0]!);
    return { data: rollout, text: rolloutText(rollout) };
  });
