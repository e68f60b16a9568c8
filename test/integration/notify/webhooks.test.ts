// Webhooks from the event to a real receiver that verifies them with the library of the specification.

import { randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RolloutId } from "../../../src/core/ids.ts";
import type { DeliveryList, DeliveryView, WebhookCreated } from "../../../src/core/protocol/incident-api.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { appendEvents } from "../../../src/server/events/append.ts";
import { raiseIncidents } from "../../../src/server/incidents/raise.ts";
import { createServerMetrics } from "../../../src/server/metrics/server-metrics.ts";
import { startDispatcher } from "../../../src/server/notify/dispatcher.ts";
import { startNotifier } from "../../../src/server/notify/notifier.ts";
import { loadSecretBox } from "../../../src/server/notify/secret-box.ts";
import { until } from "../../support/programs/until.ts";
import { startReceiver, type Receiver } from "../../support/programs/webhook-receiver.ts";
import { insertNode, insertRollout } from "../../support/server/health-rows.ts";
import { administrator, type Ask } from "../../support/server/operators-client.ts";
import { startOperatorsSite, type OperatorsSite } from "../../support/server/operators-site.ts";

let here: OperatorsSite;
let ask: Ask;
let receiver: Receiver;
const parts: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  here = await startOperatorsSite();
  ask = await administrator(here.app, here.db);
  parts.push(await startNotifier(here.db, silentLogger), await dispatcher());
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await here.db`delete from webhooks`;
  await receiver.close();
});
afterAll(async () => {
  for (const part of parts) await part.stop();
  await here.stop();
});

const dispatcher = async () =>
  startDispatcher({
    db: here.db,
    box: await loadSecretBox(here.site.keysDir),
    allowPrivate: true,
    now: systemClock.now,
    random: () => 0,
    metrics: createServerMetrics(),
    log: silentLogger,
    retryBaseMs: 2,
  });

async function added(changes: object = {}): Promise<WebhookCreated> {
  const answer = await ask("POST", "/webhooks", { name: `w-${randomUUID()}`, url: receiver.url, ...changes });
  expect(answer.status).toBe(201);
  return answer.body as WebhookCreated;
}
const moved = async (id: RolloutId, from: string, to: string, why: object | null = null) =>
  here.db.begin((tx) =>
    appendEvents(tx, [{ kind: "rollout.status", rollout_id: id, data: { from, to, why } as never }]),
  );
const deliveries = async (id: string) =>
  ((await ask("GET", `/webhooks/${id}/deliveries`)).body as DeliveryList).deliveries;
const settled = (id: string) =>
  until("a settled delivery", async () => (await deliveries(id)).find(({ status }) => status !== "pending"));
const typesOf = (received: Receiver["received"]) =>
  received.map(({ body }) => (JSON.parse(body) as { type: string }).type);

describe("delivery", () => {
  test("ROLL-19: a message is signed, tried again after a 500, and then known to be delivered", async () => {
    const { webhook, secret } = await added();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    receiver.answers = [500, 503];
    const rollout = await insertRollout(here.db, { total: 4, pending: 4 });
    await moved(rollout, "pending", "running");
    const [first, second, third] = await receiver.got(3);
    const body = new Webhook(secret).verify(third!.body, third!.headers);
    expect(body).toMatchObject({
      type: "rollout_started",
      data: {
        rollout: { id: rollout, status: "running", target_version: "2.0.0", total_nodes: 4, why: null },
      },
    });
    expect(new Set([first, second, third].map((each) => each!.headers["webhook-id"])).size).toBe(1);
    expect(first!.body).toBe(third!.body);
    expect(first!.headers["content-type"]).toBe("application/json");
    const delivery = await settled(webhook.id);
    expect(delivery).toMatchObject({
      id: third!.headers["webhook-id"],
      kind: "rollout_started",
      status: "delivered",
      attempts: 3,
      last_status: 200,
      last_error: null,
      next_attempt_at: null,
    });
  });

  test("ROLL-19: a wrong secret, a changed body and an old timestamp do not verify", async () => {
    const { secret } = await added();
    const other = await added();
    await moved(await insertRollout(here.db), "pending", "running");
    const all = await receiver.got(2);
    const mine = all.find(({ body, headers }) => verifies(secret, body, headers))!;
    expect(verifies(other.secret, mine.body, mine.headers)).toBe(false);
    expect(verifies(secret, mine.body.replace("2.0.0", "6.6.6"), mine.headers)).toBe(false);
    const old = { ...mine.headers, "webhook-timestamp": "1000000000" };
    expect(verifies(secret, mine.body, old)).toBe(false);
  });

  test("ROLL-19: each of the eight notifications is told once, with what it is about", async () => {
    const { webhook } = await added();
    const id = await insertRollout(here.db);
    const nodeId = await insertNode(here.db, `n-${randomUUID()}`);
    const why = { code: "THRESHOLD_EXCEEDED", text: "2 of 4 failed" };
    await moved(id, "pending", "running");
    await moved(id, "running", "paused", why);
    await moved(id, "paused", "running");
    await moved(id, "running", "rolling_back");
    await moved(id, "rolling_back", "rolled_back");
    await moved(id, "running", "completed");
    await moved(id, "running", "failed");
    await moved(id, "running", "cancelled");
    await here.db.begin((tx) =>
      raiseIncidents(
        tx,
        id,
        [
          {
            category: "upgrade_failed",
            severity: "critical",
            nodeId,
            title: "left half way",
            detail: {},
            recoveryPlan: "reprovision",
          },
        ],
        Date.now(),
      ),
    );
    const [incident] = await here.db<{ id: string }[]>`select id from incidents where node_id = ${nodeId}`;
    await ask("POST", `/incidents/${incident!.id}/acknowledge`);
    await ask("POST", `/incidents/${incident!.id}/resolve`, { note: "replaced" });
    const received = await receiver.got(8);
    await until("all delivered", async () =>
      (await deliveries(webhook.id)).every(({ status }) => status === "delivered"),
    );
    expect(typesOf(received).toSorted()).toEqual([
      "incident_opened",
      "incident_resolved",
      "rollback_completed",
      "rollback_initiated",
      "rollout_completed",
      "rollout_failed",
      "rollout_paused",
      "rollout_started",
    ]);
    const bodies = received.map(({ body }) => JSON.parse(body) as { type: string; data: object });
    const dataOf = (type: string) => bodies.find((body) => body.type === type)!.data;
    expect(dataOf("rollout_paused")).toMatchObject({ rollout: { id, status: "paused", why } });
    expect(dataOf("incident_opened")).toMatchObject({
      rollout: { id },
      incident: { id: incident!.id, node_id: nodeId, recovery_plan: "reprovision", severity: "critical" },
    });
    expect(dataOf("incident_resolved")).toMatchObject({
      incident: { status: "resolved", resolved_by: "key:boss", note: "replaced" },
    });
  });

  test("ROLL-19: a webhook is told only what it asked for, and nothing while it is off", async () => {
    const { webhook } = await added({ events: ["rollout_failed"] });
    const all = await added();
    const id = await insertRollout(here.db);
    await moved(id, "pending", "running");
    await receiver.got(1);
    expect(await ask("POST", `/webhooks/${all.webhook.id}/disable`)).toMatchObject({
      status: 200,
      body: { enabled: false },
    });
    await moved(id, "running", "completed");
    await moved(id, "running", "failed");
    await receiver.got(2);
    await ask("POST", `/webhooks/${all.webhook.id}/enable`);
    await moved(id, "running", "paused");
    await receiver.got(3);
    expect(typesOf(receiver.received)).toEqual(["rollout_started", "rollout_failed", "rollout_paused"]);
    expect((await deliveries(webhook.id)).map(({ kind }) => kind)).toEqual(["rollout_failed"]);
  });

  test("ROLL-19: a receiver that never takes it is given up after ten attempts, and can be sent it again", async () => {
    const { webhook } = await added();
    const earlier = receiver.received.length;
    receiver.answers = Array.from({ length: 10 }, () => 500);
    await moved(await insertRollout(here.db), "pending", "running");
    // The last waits are minutes by design: they are cut short, where no attempt is under way.
    const failed = await until("given up", async () => {
      const attempts = receiver.received.length - earlier;
      await here.db`
        update webhook_deliveries set next_attempt_at = now()
        where status = 'pending' and attempts = ${attempts} and attempts between 1 and 9`;
      return (await deliveries(webhook.id)).find(({ status }) => status === "failed");
    });
    expect(failed).toMatchObject({ attempts: 10, last_status: 500, last_error: "answered 500" });
    const before = receiver.received.length;
    const again = await ask("POST", `/webhooks/${webhook.id}/deliveries/${failed.id}/redeliver`);
    expect(again).toMatchObject({ status: 202, body: { id: failed.id } });
    const received = await receiver.got(before + 1);
    expect(received.at(-1)!.headers["webhook-id"]).toBe(failed.id);
    expect(await settled(webhook.id)).toMatchObject({ id: failed.id, status: "delivered" });
  });

  test("ROLL-19: a test is sent at once, and is signed like any other", async () => {
    const { webhook, secret } = await added();
    const answer = await ask("POST", `/webhooks/${webhook.id}/test`);
    expect(answer).toMatchObject({ status: 202, body: { kind: "test" } }); // it may have been sent by now
    const [message] = await receiver.got(1);
    expect(new Webhook(secret).verify(message!.body, message!.headers)).toMatchObject({
      type: "test",
      data: { webhook: { id: webhook.id }, asked_by: "key:boss" },
    });
    expect(await settled(webhook.id)).toMatchObject({
      id: (answer.body as DeliveryView).id,
      status: "delivered",
    });
  });

  test("ROLL-19: a redirect is not followed, and an answer of 410 ends the webhook", async () => {
    const elsewhere = await startReceiver();
    const { webhook } = await added();
    receiver.headers = { location: elsewhere.url };
    receiver.answers = [302, 307, 410];
    await ask("POST", `/webhooks/${webhook.id}/test`);
    expect(await settled(webhook.id)).toMatchObject({ status: "failed", attempts: 3, last_status: 410 });
    await until("switched off", async () => {
      const { body } = await ask("GET", `/webhooks/${webhook.id}`);
      return !(body as { enabled: boolean }).enabled;
    });
    expect(elsewhere.received).toEqual([]);
    await elsewhere.close();
  });

  test("ROLL-19: a receiver that hangs holds up no other", async () => {
    const slow = await startReceiver();
    slow.answers = ["hang"];
    const hanging = await added({ url: slow.url });
    await ask("POST", `/webhooks/${hanging.webhook.id}/test`);
    await slow.got(1);
    const { webhook } = await added();
    await ask("POST", `/webhooks/${webhook.id}/test`);
    expect(await settled(webhook.id)).toMatchObject({ status: "delivered" });
    expect(await deliveries(hanging.webhook.id)).toMatchObject([{ status: "pending", attempts: 1 }]);
    await slow.close();
  });
});

test("ROLL-19: of two replicas one sends, and what a third took with it when it died is sent after its claim", async () => {
  const second = await dispatcher();
  const { webhook } = await added();
  const ids = [];
  for (let i = 0; i < 20; i++)
    ids.push(((await ask("POST", `/webhooks/${webhook.id}/test`)).body as DeliveryView).id);
  await until("all delivered", async () =>
    (await deliveries(webhook.id)).every(({ status }) => status === "delivered"),
  );
  await second.stop();
  const sent = receiver.received.map(({ headers }) => headers["webhook-id"]!);
  expect(sent.toSorted()).toEqual(ids.toSorted());
  await here.db`
    update webhook_deliveries set status = 'pending', attempts = 1, next_attempt_at = now() where id = ${ids[0]!}`;
  await receiver.got(21);
  expect(receiver.received.at(-1)!.headers["webhook-id"]).toBe(ids[0]);
});

const verifies = (secret: string, body: string, headers: Record<string, string>): boolean => {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
};

describe("the list of webhooks", () => {
  test("ROLL-19: its secret is answered once, and lies in the database sealed and bound to its row", async () => {
    const { webhook, secret } = await added();
    const raw = Buffer.from(secret.slice("whsec_".length), "base64");
    const dump = JSON.stringify([
      await here.db`select * from webhooks`,
      await here.db`select encode(sealed_secret, 'hex') as hex, encode(sealed_secret, 'base64') as b64 from webhooks`,
      (await ask("GET", "/webhooks")).body,
      (await ask("GET", `/webhooks/${webhook.id}`)).body,
      await here.db`select data from events`,
    ]);
    for (const form of [secret, raw.toString("hex"), raw.toString("base64"), secret.slice(6)])
      expect(dump).not.toContain(form);
    const box = await loadSecretBox(here.site.keysDir);
    const [row] = await here.db<{ sealed_secret: Uint8Array }[]>`select sealed_secret from webhooks`;
    expect(box.open(webhook.id, row!.sealed_secret)).toBe(secret);
    const other = await added();
    expect(() => box.open(other.webhook.id, row!.sealed_secret)).toThrow(/authenticate/);
    const changed = Buffer.from(row!.sealed_secret);
    changed[changed.length - 1]! ^= 1;
    expect(() => box.open(webhook.id, changed)).toThrow(/authenticate/);
  });

  test("a name is given once, and what is removed is gone with its log", async () => {
    const { webhook } = await added({ name: "pager" });
    expect(await ask("POST", "/webhooks", { name: "pager", url: receiver.url })).toMatchObject({
      code: "INVALID_INPUT",
      message: "body.name: there is a webhook pager already",
    });
    await ask("POST", `/webhooks/${webhook.id}/test`);
    await settled(webhook.id);
    expect((await ask("DELETE", `/webhooks/${webhook.id}`)).status).toBe(204);
    for (const [method, path] of [
      ["DELETE", ""],
      ["GET", ""],
      ["POST", "/enable"],
      ["POST", "/test"],
      ["GET", "/deliveries"],
      ["POST", `/deliveries/${randomUUID()}/redeliver`],
    ] as const)
      expect((await ask(method, `/webhooks/${webhook.id}${path}`)).code).toBe("NOT_FOUND");
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
    expect((await ask("POST", "/webhooks", { name: "bad", url })).code).toBe("INVALID_INPUT");
  });

  test("deliveries are given out in pages, each once", async () => {
    const { webhook } = await added();
    for (let i = 0; i < 5; i++) await ask("POST", `/webhooks/${webhook.id}/test`);
    const seen = new Set<string>();
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `&cursor=${cursor}`;
      const page = (await ask("GET", `/webhooks/${webhook.id}/deliveries?limit=2${query}`))
        .body as DeliveryList;
      for (const { id } of page.deliveries) seen.add(id);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen.size).toBe(5);
  });
});
