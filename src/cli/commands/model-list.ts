import { resourceList, type ResourceView } from "../../core/protocol/model-api.ts";
import type { Call, Result } from "../call.ts";
import { kindOf, listPathOf } from "../model/kind.ts";
import { resourceTable } from "../model/text.ts";
import { everyPage, queryOf } from "../pages.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const kind = kindOf(call.args[0]!);
    const items = await everyPage<ResourceView>(async (page) => {
      const answer = await api.get(`${listPathOf(kind)}?${queryOf(page)}`, resourceList(kind));
      return { items: answer.items, next: answer.next_cursor };
    });
    const none = `no ${kind}: make one with \`fairlead model set ${kind} NAME\``;
    return {
      data: { items },
      text: resourceTable(kind, items, call.io.now()),
      ...(items.length === 0 ? { notes: none } : {}),
    };
  });
