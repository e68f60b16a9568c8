import { FairleadError } from "../../core/errors.ts";
import { Uuid } from "../../core/ids.ts";
import { DeliveryView } from "../../core/protocol/incident-api.ts";
import type { Call, Result } from "../call.ts";
import { withSession } from "../session.ts";
import { resolveWebhook } from "../webhook/find.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { id, name } = await resolveWebhook(api, call.args[0]!);
    const delivery = Uuid.safeParse(call.args[1]!);
    if (!delivery.success)
      throw new FairleadError(
        "USAGE",
        `a delivery's id is whole: see \`fairlead webhook deliveries ${name}\``,
      );
    const again = await api.post(
      `/api/v1/webhooks/${id}/deliveries/${delivery.data}/redeliver`,
      {},
      DeliveryView,
    );
    return { data: again, text: `delivery ${again.id} goes to ${name} again; it is ${again.status}` };
  });
