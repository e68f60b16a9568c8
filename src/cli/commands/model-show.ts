import { RESOURCE_VIEWS } from "../../core/protocol/model-api.ts";
import type { Call, Result } from "../call.ts";
import { kindOf, pathOf } from "../model/kind.ts";
import { specText } from "../model/text.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const kind = kindOf(call.args[0]!);
    const resource = await api.get(pathOf(kind, call.args[1]!), RESOURCE_VIEWS[kind]);
    const notes = `${kind} ${resource.name} (${resource.id}), changed at ${resource.changed_at}`;
    return { data: resource, text: specText(resource.spec), notes };
  });
