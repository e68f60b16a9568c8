import type { Call, Result } from "../call.ts";
import { listUpgrades } from "../pages.ts";
import { resolveRollout } from "../resolve.ts";
import { withSession } from "../session.ts";
import { readAttempts } from "../timeline/read.ts";
import { timelineText } from "../timeline/text.ts";
import { memberOf } from "./rollout-node-signal.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { id } = await resolveRollout(api, call.args[0]!);
    const node = memberOf(await listUpgrades(api, id), call.args[1]!);
    const attempts = await readAttempts(api, node.node_id, id);
    const none =
      attempts.length === 0 ? { notes: `${node.node_name} is ${node.status}: nothing happened` } : {};
    const data = { rollout_id: id, node_id: node.node_id, attempts };
    return { data, text: timelineText(attempts, call.paint), ...none };
  });
