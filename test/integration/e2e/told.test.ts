/** A real upgrade of real nodes, as others hear of it: a webhook that verifies what comes, a NATS client, metrics. */
import { mkdir, readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../support/lab/node.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { natsServer, type NatsServer } from "../../support/programs/nats-server.ts";
import { startReceiver, type Receiver } from "../../support/programs/webhook-receiver.ts";
import { parseExposition } from "../../support/server/exposition.ts";

let lab: Lab;
let nats: NatsServer;
let client: NatsConnection;
let receiver: Receiver;
let secret: string;
let nodes: LabNode[];
const heard: { subject: string; body: Record<string, unknown> }[] = [];

beforeAll(async () => {
  nats = await natsServer();
  await nats.start();
  client = await connect({ servers: nats.url });
  const subscription = client.subscribe("events.>");
  await client.flush();
  void (async () => {
    for await (const message of subscription)
      heard.push({ subject: message.subject, body: message.json<Record<string, unknown>>() });
  })();
  receiver = await startReceiver();
  lab = await startLab({
    moreFlags: ["--nats-url", nats.url, "--webhook-allow-private", "--metrics-listen", "127.0.0.1:0"],
  });
  const file = join(lab.folder, "hook.secret");
  const added = await lab.operator.fairlead("webhook", "add", "pager", "--url", receiver.url, "--out", file);
  expect([added.code, added.err]).toEqual([0, ""]);
  secret = (await readFile(file, "utf8")).trim();
  nodes = await addRunningNodes(lab, [{ name: "told-1" }, { name: "told-2" }]);
}, 240_000);
afterAll(async () => {
  await client.close();
  await receiver.close();
  await lab.stop();
  await nats.stop();
}, 120_000);

const told = () =>
  receiver.received.map(
    ({ body, headers }) =>
      new Webhook(secret).verify(body, headers) as { type: string; data: Record<string, object> },
  );

test("ROLL-19: a webhook and a NATS client hear of an upgrade from its start to its end", async () => {
  receiver.answers = [500];
  const id = await startRollout(lab, { from: "1.0.0", to: lab.origin.publish("2.0.0"), batchSize: 1 });
  expect(await endingOf(lab, id)).toEqual(completed(nodes));
  const messages = await eventually("the webhook has both", () => {
    const types = new Set(told().map(({ type }) => type));
    return types.has("rollout_completed") && types.has("rollout_started") && told();
  });
  expect(messages.find(({ type }) => type === "rollout_completed")!.data).toMatchObject({
    rollout: { id, status: "completed", target_version: "2.0.0", succeeded_nodes: 2, failed_nodes: 0 },
  });
  await eventually("NATS has the end", () =>
    heard.some(({ subject }) => subject === `events.rollout.${id}.completed`),
  );
  const subjects = heard.map(({ subject }) => subject);
  expect(subjects[0]).toBe(`events.rollout.${id}.started`);
  expect(subjects.at(-1)).toBe(`events.rollout.${id}.completed`);
  for (const { node_id } of await lab.operator.upgrades(id)) {
    const own = heard.filter(({ subject }) => subject.startsWith(`events.node.${node_id}.`));
    const names = own.map(({ subject }) => subject.split(".").at(-1));
    expect([names[0], names.at(-1)]).toEqual(["upgrade_started", "upgrade_completed"]);
    const phases = own.flatMap(({ subject, body }) =>
      subject.endsWith("upgrade_phase_changed") ? [body["phase"]] : [],
    );
    expect(phases).toContain("VERIFYING");
    expect(own.at(-1)!.body).toMatchObject({ status: "succeeded", rollout_id: id });
  }
});

test("ROLL-20: the server's metrics tell the same, in the strict format", async () => {
  const [line] = (await readFile(join(lab.folder, "server-1.out"), "utf8")).split("\n");
  const { url, metrics_url } = JSON.parse(line!) as { url: string; metrics_url: string };
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
  const answer = await fetch(metrics_url);
  const families = parseExposition(await answer.text());
  const ended = families.get("fairlead_rollout_total")!.samples;
  expect(ended).toMatchObject([
    { labels: { chain: "hello", strategy: "rolling", status: "completed" }, value: 1 },
  ]);
  const upgraded = families.get("fairlead_rollout_node_upgrades_total")!.samples;
  expect(upgraded).toMatchObject([{ labels: { chain: "hello", status: "succeeded" }, value: 2 }]);
  expect(families.get("fairlead_nodes")!.samples).toMatchObject([{ labels: { state: "active" }, value: 2 }]);
});

test("USE-5: a server that cannot write its data folder says so in /readyz, and is ready again afterwards", async () => {
  const { server } = JSON.parse(await readFile(join(lab.home, "contexts", "default.json"), "utf8")) as {
    server: string;
  };
  const readiness = async () => {
    const answer = await fetch(`${server}/readyz`);
    return { status: answer.status, body: await answer.text() };
  };
  const probe = join(lab.dataDir, ".space-probe"); // a folder in its place: no file can be written there
  await mkdir(probe);
  const refused = await eventually("it is not ready", async () => {
    const seen = await readiness();
    return seen.status === 503 && seen;
  });
  expect(refused.body).toContain(`${lab.dataDir} cannot be written`);
  await rmdir(probe);
  await eventually("it is ready again", async () => (await readiness()).status === 200);
});
