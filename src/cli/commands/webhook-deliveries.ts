import { z } from "zod";
import { DeliveryList } from "../../core/protocol/incident-api.ts";
import type { Call, Result } from "../call.ts";
import { count, optionsOf } from "../options.ts";
import { everyPage, queryOf } from "../pages.ts";
import { withSession } from "../session.ts";
import { resolveWebhook } from "../webhook/find.ts";
import { deliveryTable } from "../webhook/text.ts";

const Options = z.object({ limit: count(1, 10_000) });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { limit } = optionsOf(Options, call.options);
    const { id } = await resolveWebhook(api, call.args[0]!);
    const deliveries = await everyPage(async (page) => {
      const path = `/api/v1/webhooks/${id}/deliveries?${queryOf(page)}`;
      const list = await api.get(path, DeliveryList);
      return { items: list.deliveries, next: list.next_cursor };
    }, limit);
    return {
      data: { webhook_id: id, deliveries },
      text: deliveryTable(deliveries, call.io.now()),
      ...(deliveries.length === 0 ? { notes: "nothing was sent to it yet" } : {}),
    };
  });
