import type { Call, Result } from "../call.ts";
import { kindOf, pathOf } from "../model/kind.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const kind = kindOf(call.args[0]!);
    const name = call.args[1]!;
    await api.delete(pathOf(kind, name));
    return { data: { kind, name, deleted: true }, text: `${kind} ${name} is deleted` };
  });
