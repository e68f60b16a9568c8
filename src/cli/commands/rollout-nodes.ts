import type { Call, Result } from "../call.ts";
import { listUpgrades } from "../pages.ts";
import { resolveRollout } from "../resolve.ts";
import { upgradeTable } from "../rollout-text.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { id } = await resolveRollout(api, call.args[0]!);
    const nodes = await listUpgrades(api, id);
    return { data: { rollout_id: id, nodes }, text: upgradeTable(nodes) };
  });
