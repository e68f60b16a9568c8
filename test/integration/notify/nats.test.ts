// Events on a real NATS server, heard by a real client.

import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { ClusterId, NodeId, RolloutId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { silentLogger } from "../../../src/host/log.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { appendEvents, type NewEvent } from "../../../src/server/events/append.ts";
import { evaluateHealth } from "../../../src/server/health/evaluate.ts";
import { watchNodes } from "../../../src/server/incidents/watch.ts";
import { createServerMetrics } from "../../../src/server/metrics/server-metrics.ts";
import { startNatsPublisher } from "../../../src/server/notify/nats-publisher.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { natsServer, type NatsServer } from "../../support/programs/nats-server.ts";
import { until } from "../../support/programs/until.ts";
import { beat, insertNode, insertRollout, insertRolloutNode } from "../../support/server/health-rows.ts";

interface Heard {
  readonly subject: string;
  readonly id: string;
  readonly body: { readonly event_id: number } & Record<string, unknown>;
  readonly at: number;
}

const CLUSTER = "11111111-1111-4111-8111-111111111111" as ClusterId;
let databases: TestDatabases;
let db: Database;
let server: NatsServer;
let publisher: { stop(): Promise<void> };
let rollout: RolloutId;
let node: NodeId;
const heard: Heard[] = [];
const clients: NatsConnection[] = [];

beforeAll(async () => {
  databases = await startTestDatabases();
});
beforeEach(async () => {
  ({ db } = await databases.fresh());
  server = await natsServer();
  await server.start();
  heard.length = 0;
  await listen();
  rollout = await insertRollout(db);
  node = await insertNode(db, "n1");
  await insertRolloutNode(db, rollout, node);
  publisher = await publish();
});
afterEach(async () => {
  await publisher.stop();
  for (const client of clients.splice(0)) await client.close();
  await server.stop();
});
afterAll(() => databases.stop());

const publish = () =>
  startNatsPublisher({
    db,
    target: { url: server.url, credentialsFile: undefined, caFile: undefined },
    clusterId: CLUSTER,
    metrics: createServerMetrics(),
    log: silentLogger,
  });

async function listen(): Promise<void> {
  const client = await connect({ servers: server.url, reconnect: false });
  clients.push(client);
  const subscription = client.subscribe("events.>");
  await client.flush();
  void (async () => {
    for await (const message of subscription)
      heard.push({
        subject: message.subject,
        id: message.headers?.get("Nats-Msg-Id") ?? "",
        body: message.json(),
        at: performance.now(),
      });
  })();
}

const append = (...events: NewEvent[]) => db.begin((tx) => appendEvents(tx, events));
const status = (from: string, to: string): NewEvent => ({
  kind: "rollout.status",
  rollout_id: rollout,
  data: { from, to, why: null },
});
const upgrade = (data: object): NewEvent => ({
  kind: "node.upgrade",
  rollout_id: rollout,
  node_id: node,
  data: { status: "in_progress", action: null, error: null, ...data },
});
const subjects = () => heard.map(({ subject }) => subject);
const newest = async () => (await db<{ id: number }[]>`select max(id) as id from events`)[0]!.id;
const caughtUp = () =>
  until("the cursor is at the newest event", async () => {
    const rows = await db`select 1 from event_cursors where reader = 'nats' and event_id = ${await newest()}`;
    return rows.length > 0;
  });

test("ROLL-19: an upgrade is told under its subjects, in the order in which it happened", async () => {
  await append(
    status("pending", "running"),
    upgrade({ phase: "PREPARING", direction: "forward", attempt: 1 }),
    upgrade({ phase: "PREPARING", action: "backup_state" }),
    upgrade({ phase: "PREPARING", action: "acquire_artifact" }),
    upgrade({ phase: "STOPPED", action: "stop_node" }),
    upgrade({ phase: "MUTATING", action: "install_artifact" }),
    upgrade({ phase: "MUTATING", action: "write_configs" }),
    upgrade({ phase: "STARTING", action: "start_node" }),
    upgrade({ phase: "VERIFYING" }),
    upgrade({ status: "succeeded", phase: "VERIFYING" }),
    status("running", "completed"),
  );
  await until("the end", () => subjects().includes(`events.rollout.${rollout}.completed`));
  expect(subjects()).toEqual([
    `events.rollout.${rollout}.started`,
    `events.node.${node}.upgrade_started`,
    ...["STOPPED", "MUTATING", "STARTING", "VERIFYING"].map(
      () => `events.node.${node}.upgrade_phase_changed`,
    ),
    `events.node.${node}.upgrade_completed`,
    `events.rollout.${rollout}.progress`,
    `events.rollout.${rollout}.completed`,
  ]);
  expect(heard[0]!.body).toMatchObject({
    type: "started",
    rollout: { id: rollout, status: "running", target_version: "2.0.0", total_nodes: 4 },
  });
  expect(heard[3]!.body).toMatchObject({ node_id: node, phase: "MUTATING", previous_phase: "STOPPED" });
  expect(heard[6]!.body).toMatchObject({ status: "succeeded", rollout_id: rollout });
  const ids = heard.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, body } of heard) expect(id).toMatch(new RegExp(`^${CLUSTER}:${body.event_id}(:\\w+)?$`));
});

test("ROLL-19: a node that goes down and comes back is told under its category's subjects, with the incident whole", async () => {
  await db`insert into health_watch (last_look_at, hearing_since) values (now(), now() - interval '1 day')`;
  await beat(db, node, { agoMs: LIMITS.heartbeatLostMs });
  await evaluateHealth(db);
  await watchNodes(db);
  await beat(db, node);
  await evaluateHealth(db);
  await watchNodes(db, Date.now() + LIMITS.incidentQuietMs);
  await until("the end", () => subjects().includes("events.incident.node_down.resolved"));
  expect(subjects()).toEqual([
    `events.node.${node}.state_changed`,
    "events.incident.node_down.opened",
    `events.node.${node}.state_changed`,
    "events.incident.node_down.resolved",
  ]);
  expect(heard[0]!.body).toMatchObject({
    node_id: node,
    from: "active",
    to: "down",
    reason: "HEARTBEAT_LOST",
  });
  expect(heard[1]!.body).toMatchObject({
    type: "incident_opened",
    incident: { category: "node_down", severity: "critical", node_id: node, node_name: "n1" },
  });
  expect(heard[3]!.body).toMatchObject({ incident: { status: "resolved", resolved_by: "fairlead" } });
});

test("ROLL-19: while NATS is down events wait, and afterwards none is missing and their order holds", async () => {
  await append(status("pending", "running"));
  await until("the first", () => heard.length === 1);
  await caughtUp();
  await server.stop();
  const before = await db`select event_id from event_cursors where reader = 'nats'`;
  for (let i = 0; i < 40; i++) await append(upgrade({ phase: `PHASE_${i}`, action: "x" }));
  expect(await db`select event_id from event_cursors where reader = 'nats'`).toEqual(before);
  await db.begin(async (tx) => {
    // Nobody is told before somebody listens: NATS itself keeps nothing.
    await tx`select 1 from event_cursors for update`;
    await server.start();
    await listen();
  });
  await append(status("running", "completed"));
  await until("the last", () => subjects().includes(`events.rollout.${rollout}.completed`));
  const phases = heard.flatMap(({ body }) => (typeof body["phase"] === "string" ? [body["phase"]] : []));
  expect([...new Set(phases)]).toEqual(Array.from({ length: 40 }, (_, i) => `PHASE_${i}`));
  const order = heard.map(({ body }) => body.event_id);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

test("ROLL-19: a server that starts while NATS is down, or is restarted, goes on where it was", async () => {
  await publisher.stop();
  await server.stop();
  await append(status("pending", "running"));
  publisher = await publish();
  await append(upgrade({ phase: "STOPPED", action: "stop_node" }));
  await publisher.stop();
  await server.start();
  await listen();
  publisher = await publish();
  await caughtUp();
  await until("both", () => heard.length === 2);
  expect(subjects()).toEqual([
    `events.rollout.${rollout}.started`,
    `events.node.${node}.upgrade_phase_changed`,
  ]);
});

test("ROLL-19: a rollout's progress is told once a second at most, and its last state always", async () => {
  for (let i = 0; i < 30; i++) {
    await append(upgrade({ status: "succeeded", phase: null }));
    await db`update rollouts set succeeded_nodes = ${i + 1} where id = ${rollout}`;
  }
  await append(upgrade({ status: "succeeded", phase: null }));
  await caughtUp();
  const progress = await until("the last progress", () => {
    const told = heard.filter(({ subject }) => subject.endsWith(".progress"));
    const last = told.at(-1)?.body["rollout"] as { succeeded_nodes: number } | undefined;
    return last?.succeeded_nodes === 30 && told;
  });
  expect(progress.length).toBeLessThan(10);
  for (const [i, { at }] of progress.entries())
    if (i > 0) expect(at - progress[i - 1]!.at).toBeGreaterThan(900);
  expect(heard.filter(({ subject }) => subject.endsWith(".upgrade_completed"))).toHaveLength(31);
});
