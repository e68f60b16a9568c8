import type { Call, Result } from "../call.ts";
import { resolveGroup } from "../group/find.ts";
import { groupText } from "../group/text.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const group = await resolveGroup(api, call.args[0]!);
    return { data: group, text: groupText(group, call.io.now()) };
  });
