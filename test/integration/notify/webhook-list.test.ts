// What operators see and change of their webhooks.

import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { DeliveryList } from "../../../src/core/protocol/incident-api.ts";
import { startWebhookSite, type WebhookSite } from "../../support/server/webhook-site.ts";

let here: WebhookSite;

beforeAll(async () => void (here = await startWebhookSite()));
afterEach(() => here.clear());
afterAll(() => here.stop());

test("ROLL-19: its secret is answered once, and lies in the database sealed and bound to its row", async () => {
  const { webhook, secret } = await here.added();
  const raw = Buffer.from(secret.slice("whsec_".length), "base64");
  const dump = JSON.stringify([
    await here.db`select * from webhooks`,
    await here.db`select encode(sealed_secret, 'hex') as hex, encode(sealed_secret, 'base64') as b64 from webhooks`,
    (await here.ask("GET", "/webhooks")).body,
    (await here.ask("GET", `/webhooks/${webhook.id}`)).body,
    await here.db`select data from events`,
  ]);
  for (const form of [secret, raw.toString("hex"), raw.toString("base64"), secret.slice(6)])
    expect(dump).not.toContain(form);
  const box = here.box;
  const [row] = await here.db<{ sealed_secret: Uint8Array }[]>`select sealed_secret from webhooks`;
  expect(box.open(webhook.id, row!.sealed_secret)).toBe(secret);
  const other = await here.added();
  expect(() => box.open(other.webhook.id, row!.sealed_secret)).toThrow(/authenticate/);
  const changed = Buffer.from(row!.sealed_secret);
  changed[changed.length - 1]! ^= 1;
  expect(() => box.open(webhook.id, changed)).toThrow(/authenticate/);
});

test("a name is given once, and what is removed is gone with its log", async () => {
  const { webhook } = await here.added({ name: "pager" });
  expect(await here.ask("POST", "/webhooks", { name: "pager", url: here.receiver().url })).toMatchObject({
    code: "INVALID_INPUT",
    message: "body.name: there is a webhook pager already",
  });
  await here.ask("POST", `/webhooks/${webhook.id}/test`);
  await here.settled(webhook.id);
  expect((await here.ask("DELETE", `/webhooks/${webhook.id}`)).status).toBe(204);
  for (const [method, path] of [
    ["DELETE", ""],
    ["GET", ""],
    ["POST", "/enable"],
    ["POST", "/test"],
    ["GET", "/deliveries"],
    ["POST", `/deliveries/${randomUUID()}/redeliver`],
  ] as const)
    expect((await here.ask(method, `/webhooks/${webhook.id}${path}`)).code).toBe("NOT_FOUND");
  expect(await here.db`select 1 from webhook_deliveries`).toHaveLength(0);
});

test.each([
  ["ftp://example.test/"],
  ["file:///etc/passwd"],
  ["https://user:secret@example.test/"],
  ["https://example.test/#part"],
  ["no address"],
  ["http://169.254.169.254/latest/meta-data"],
  ["http://[fe80::1]/"],
  ["http://0.0.0.0/"],
  ["http://[::ffff:169.254.169.254]/"],
])("ROLL-19: %s is no address of a webhook", async (url) => {
  expect((await here.ask("POST", "/webhooks", { name: "bad", url })).code).toBe("INVALID_INPUT");
});

test("deliveries are given out in pages, each once", async () => {
  const { webhook } = await here.added();
  for (let i = 0; i < 5; i++) await here.ask("POST", `/webhooks/${webhook.id}/test`);
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `&cursor=${cursor}`;
    const page = (await here.ask("GET", `/webhooks/${webhook.id}/deliveries?limit=2${query}`))
      .body as DeliveryList;
    for (const { id } of page.deliveries) seen.add(id);
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(seen.size).toBe(5);
});
