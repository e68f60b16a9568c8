// Webhooks from the event to a real receiver that verifies them with the library of the specification.

import { randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RolloutId } from "../../../src/core/ids.ts";
import type { DeliveryView } from "../../../src/core/protocol/incident-api.ts";
import { appendEvents } from "../../../src/server/events/append.ts";
import { raiseIncidents } from "../../../src/server/incidents/raise.ts";
import { until } from "../../support/programs/until.ts";
import { startReceiver, type Receiver } from "../../support/programs/webhook-receiver.ts";
import { insertNode, insertRollout } from "../../support/server/health-rows.ts";
import { startWebhookSite, type WebhookSite } from "../../support/server/webhook-site.ts";

let here: WebhookSite;

beforeAll(async () => void (here = await startWebhookSite()));
afterEach(() => here.clear());
afterAll(() => here.stop());

const moved = async (id: RolloutId, from: string, to: string, why: object | null = null) =>
  here.db.begin((tx) =>
    appendEvents(tx, [{ kind: "rollout.status", rollout_id: id, data: { from, to, why } as never }]),
  );
const typesOf = (received: Receiver["received"]) =>
  received.map(({ body }) => (JSON.parse(body) as { type: string }).type);

describe("delivery", () => {
  test("ROLL-19: a message is signed, tried again after a 500, and then known to be delivered", async () => {
    const { webhook, secret } = await here.added();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    here.receiver().answers = [500, 503];
    const rollout = await insertRollout(here.db, { total: 4, pending: 4 });
    await moved(rollout, "pending", "running");
    const [first, second, third] = await here.receiver().got(3);
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
    const delivery = await here.settled(webhook.id);
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
    const { secret } = await here.added();
    const other = await here.added();
    await moved(await insertRollout(here.db), "pending", "running");
    const all = await here.receiver().got(2);
    const mine = all.find(({ body, headers }) => verifies(secret, body, headers))!;
    expect(verifies(other.secret, mine.body, mine.headers)).toBe(false);
    expect(verifies(secret, mine.body.replace("2.0.0", "6.6.6"), mine.headers)).toBe(false);
    const old = { ...mine.headers, "webhook-timestamp": "1000000000" };
    expect(verifies(secret, mine.body, old)).toBe(false);
  });

  test("ROLL-19: each of the eight notifications is told once, with what it is about", async () => {
    const { webhook } = await here.added();
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
    await here.ask("POST", `/incidents/${incident!.id}/acknowledge`);
    await here.ask("POST", `/incidents/${incident!.id}/resolve`, { note: "replaced" });
    const received = await here.receiver().got(8);
    await until("all delivered", async () =>
      (await here.deliveries(webhook.id)).every(({ status }) => status === "delivered"),
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
    const { webhook } = await here.added({ events: ["rollout_failed"] });
    const all = await here.added();
    const id = await insertRollout(here.db);
    await moved(id, "pending", "running");
    await here.receiver().got(1);
    expect(await here.ask("POST", `/webhooks/${all.webhook.id}/disable`)).toMatchObject({
      status: 200,
      body: { enabled: false },
    });
    await moved(id, "running", "completed");
    await moved(id, "running", "failed");
    await here.receiver().got(2);
    await here.ask("POST", `/webhooks/${all.webhook.id}/enable`);
    await moved(id, "running", "paused");
    await here.receiver().got(3);
    expect(typesOf(here.receiver().received)).toEqual([
      "rollout_started",
      "rollout_failed",
      "rollout_paused",
    ]);
    expect((await here.deliveries(webhook.id)).map(({ kind }) => kind)).toEqual(["rollout_failed"]);
  });

  test("ROLL-19: a receiver that never takes it is given up after ten attempts, and can be sent it again", async () => {
    const { webhook } = await here.added();
    const earlier = here.receiver().received.length;
    here.receiver().answers = Array.from({ length: 10 }, () => 500);
    await moved(await insertRollout(here.db), "pending", "running");
    // The last waits are minutes by design: they are cut short, where no attempt is under way.
    const failed = await until("given up", async () => {
      const attempts = here.receiver().received.length - earlier;
      await here.db`
        update webhook_deliveries set next_attempt_at = now()
        where status = 'pending' and attempts = ${attempts} and attempts between 1 and 9`;
      return (await here.deliveries(webhook.id)).find(({ status }) => status === "failed");
    });
    expect(failed).toMatchObject({ attempts: 10, last_status: 500, last_error: "answered 500" });
    const before = here.receiver().received.length;
    const again = await here.ask("POST", `/webhooks/${webhook.id}/deliveries/${failed.id}/redeliver`);
    expect(again).toMatchObject({ status: 202, body: { id: failed.id } });
    const received = await here.receiver().got(before + 1);
    expect(received.at(-1)!.headers["webhook-id"]).toBe(failed.id);
    expect(await here.settled(webhook.id)).toMatchObject({ id: failed.id, status: "delivered" });
  });

  test("ROLL-19: a test is sent at once, and is signed like any other", async () => {
    const { webhook, secret } = await here.added();
    const answer = await here.ask("POST", `/webhooks/${webhook.id}/test`);
    expect(answer).toMatchObject({ status: 202, body: { kind: "test" } }); // it may have been sent by now
    const [message] = await here.receiver().got(1);
    expect(new Webhook(secret).verify(message!.body, message!.headers)).toMatchObject({
      type: "test",
      data: { webhook: { id: webhook.id }, asked_by: "key:boss" },
    });
    expect(await here.settled(webhook.id)).toMatchObject({
      id: (answer.body as DeliveryView).id,
      status: "delivered",
    });
  });

  test("ROLL-19: a redirect is not followed, and an answer of 410 ends the webhook", async () => {
    const elsewhere = await startReceiver();
    const { webhook } = await here.added();
    here.receiver().headers = { location: elsewhere.url };
    here.receiver().answers = [302, 307, 410];
    await here.ask("POST", `/webhooks/${webhook.id}/test`);
    expect(await here.settled(webhook.id)).toMatchObject({ status: "failed", attempts: 3, last_status: 410 });
    await until("switched off", async () => {
      const { body } = await here.ask("GET", `/webhooks/${webhook.id}`);
      return !(body as { enabled: boolean }).enabled;
    });
    expect(elsewhere.received).toEqual([]);
    await elsewhere.close();
  });

  test("ROLL-19: a receiver that hangs holds up no other", async () => {
    const slow = await startReceiver();
    slow.answers = ["hang"];
    const hanging = await here.added({ url: slow.url });
    await here.ask("POST", `/webhooks/${hanging.webhook.id}/test`);
    await slow.got(1);
    const { webhook } = await here.added();
    await here.ask("POST", `/webhooks/${webhook.id}/test`);
    expect(await here.settled(webhook.id)).toMatchObject({ status: "delivered" });
    expect(await here.deliveries(hanging.webhook.id)).toMatchObject([{ status: "pending", attempts: 1 }]);
    await slow.close();
  });
});

test("ROLL-19: of two replicas one sends, and what a third took with it when it died is sent after its claim", async () => {
  const second = await here.dispatcher();
  const { webhook } = await here.added();
  const ids = [];
  for (let i = 0; i < 20; i++)
    ids.push(((await here.ask("POST", `/webhooks/${webhook.id}/test`)).body as DeliveryView).id);
  await until("all delivered", async () =>
    (await here.deliveries(webhook.id)).every(({ status }) => status === "delivered"),
  );
  await second.stop();
  const sent = here.receiver().received.map(({ headers }) => headers["webhook-id"]!);
  expect(sent.toSorted()).toEqual(ids.toSorted());
  await here.db`
    update webhook_deliveries set status = 'pending', attempts = 1, next_attempt_at = now() where id = ${ids[0]!}`;
  await here.receiver().got(21);
  expect(here.receiver().received.at(-1)!.headers["webhook-id"]).toBe(ids[0]);
});

const verifies = (secret: string, body: string, headers: Record<string, string>): boolean => {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
};
