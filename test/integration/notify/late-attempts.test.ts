// An attempt that ends after its claim has passed must not overwrite the attempt that followed it.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { DeliveryView } from "../../../src/core/protocol/incident-api.ts";
import { until } from "../../support/programs/until.ts";
import { startWebhookSite, type WebhookSite } from "../../support/server/webhook-site.ts";

let here: WebhookSite;
const open: ServerResponse[] = [];
const slow = createServer((request, response) => {
  request.resume().on("end", () => open.push(response));
});

beforeAll(async () => {
  here = await startWebhookSite();
  await new Promise<void>((done) => slow.listen(0, "127.0.0.1", done));
});
afterAll(async () => {
  await here.stop();
  slow.closeAllConnections();
  await new Promise((done) => slow.close(done));
});

test.each([
  ["success", 200],
  ["failure", 500],
])("ROLL-19: a late %s leaves the newer attempt as it is", async (_what, status) => {
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/hook`;
  const { webhook } = await here.added({ url });
  const { id } = (await here.ask("POST", `/webhooks/${webhook.id}/test`)).body as DeliveryView;
  const first = await until("the first attempt", () => open.pop());
  const newer = { attempts: 7, status: "pending", last_status: 503, last_error: "newer" };
  await here.db`
    update webhook_deliveries set attempts = 7, last_status = 503, last_error = 'newer',
      next_attempt_at = now() + interval '1 hour' where id = ${id}`;
  const row = async () =>
    (
      await here.db`select attempts, status, last_status, last_error from webhook_deliveries where id = ${id}`
    )[0];
  first.writeHead(status).end();
  // The late answer is recorded before these, which begin after it, are delivered.
  for (let count = 0; count < 4; count++) {
    await here.ask("POST", `/webhooks/${webhook.id}/test`);
    (await until("the next attempt", () => open.pop())).writeHead(200).end();
  }
  await until("the others delivered", async () =>
    (await here.deliveries(webhook.id)).every((each) => each.id === id || each.status === "delivered"),
  );
  expect(await row()).toEqual(newer);
});
