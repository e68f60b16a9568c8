/** The operators' API with a notifier and a dispatcher, and a real receiver for each test. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { DeliveryList, WebhookCreated } from "../../../src/core/protocol/incident-api.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { createServerMetrics } from "../../../src/server/metrics/server-metrics.ts";
import { startDispatcher } from "../../../src/server/notify/dispatcher.ts";
import { startNotifier } from "../../../src/server/notify/notifier.ts";
import { loadSecretBox } from "../../../src/server/notify/secret-box.ts";
import { until } from "../programs/until.ts";
import { startReceiver } from "../programs/webhook-receiver.ts";
import { administrator } from "./operators-client.ts";
import { startOperatorsSite } from "./operators-site.ts";

export type WebhookSite = Awaited<ReturnType<typeof startWebhookSite>>;

export async function startWebhookSite() {
  const here = await startOperatorsSite();
  const ask = await administrator(here.app, here.db);
  const box = await loadSecretBox(here.site.keysDir);
  let receiver = await startReceiver();

  const dispatcher = () =>
    startDispatcher({
      db: here.db,
      box,
      allowPrivate: true,
      now: systemClock.now,
      random: () => 0,
      metrics: createServerMetrics(),
      log: silentLogger,
      retryBaseMs: 2,
    });
  const parts = [await startNotifier(here.db, silentLogger), await dispatcher()];
  const deliveries = async (id: string) =>
    ((await ask("GET", `/webhooks/${id}/deliveries`)).body as DeliveryList).deliveries;

  return {
    db: here.db,
    ask,
    box,
    /** Another one on the same rows. */
    dispatcher,
    receiver: () => receiver,
    /** A webhook to the receiver. */
    async added(changes: object = {}): Promise<WebhookCreated> {
      const wish = { name: `w-${randomUUID()}`, url: receiver.url, ...changes };
      const answer = await ask("POST", "/webhooks", wish);
      expect(answer.status).toBe(201);
      return answer.body as WebhookCreated;
    },
    deliveries,
    settled: (id: string) =>
      until("a settled delivery", async () =>
        (await deliveries(id)).find(({ status }) => status !== "pending"),
      ),
    /** Between two tests. */
    async clear(): Promise<void> {
      await here.db`delete from webhooks`;
      await receiver.close();
      receiver = await startReceiver();
    },
    async stop(): Promise<void> {
      for (const part of parts) await part.stop();
      await receiver.close();
      await here.stop();
    },
  };
}
