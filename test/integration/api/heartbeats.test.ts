// What a heartbeat leaves in its row, and which are refused.

import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { NodeId } from "../../../src/core/ids.ts";
import type { Heartbeat } from "../../../src/core/protocol/agent-api.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { createHeartbeatStore } from "../../../src/server/agents/heartbeats.ts";
import { registerAgentRoutes } from "../../../src/server/agents/routes.ts";
import { handleErrors } from "../../../src/server/api/errors.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";

const nodeId = NodeId.parse("00000000-0000-4000-8000-000000000001");
let databases: TestDatabases;
let db: Database;
let here: FastifyInstance;
let elsewhere: FastifyInstance;

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
});
beforeEach(async () => {
  await db`truncate node_heartbeats`;
  [here, elsewhere] = [replica(), replica()];
});
afterAll(() => databases.stop());

/** The route alone: who asks is settled by the listener, before. */
function replica(): FastifyInstance {
  const app = Fastify();
  handleErrors(app, silentLogger);
  app.decorateRequest("nodeId", nodeId);
  registerAgentRoutes(app, { storeHeartbeat: createHeartbeatStore(db, () => undefined) } as never);
  return app;
}

const beat = (version: string, at = new Date().toISOString()): Heartbeat => ({
  at,
  agent_version: version,
  applied: { trust_bundle: { epoch: 1, version: 1 } },
  programs: [],
  last_rejection: null,
});

async function send(
  app: FastifyInstance,
  body: unknown,
): Promise<{ status: number; message: string | null }> {
  const payload = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { "content-type": "application/json" };
  const reply = await app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload });
  if (reply.statusCode === 204) return { status: 204, message: null };
  const { error } = reply.json<{ error: { code: string; message: string } }>();
  return { status: reply.statusCode, message: `${error.code}: ${error.message}` };
}

async function row(): Promise<{ version: string; receivedAt: number; applied: unknown }> {
  const [found] = await db<{ agent_version: string; received_at: Date; applied: unknown }[]>`
    select agent_version, received_at, applied from node_heartbeats where node_id = ${nodeId}`;
  return {
    version: found!.agent_version,
    receivedAt: found!.received_at.getTime(),
    applied: found!.applied,
  };
}

test("a heartbeat that repeats the one before moves its row's time and nothing else", async () => {
  expect(await send(here, beat("1"))).toMatchObject({ status: 204 });
  await db`update node_heartbeats set received_at = '2020-01-01T00:00:00Z'`;
  expect(await send(here, beat("1", "2026-02-03T04:05:06.789Z"))).toMatchObject({ status: 204 });
  const { receivedAt, ...content } = await row();
  expect(content).toEqual({ version: "1", applied: { trust_bundle: { epoch: 1, version: 1 } } });
  expect(receivedAt).toBeGreaterThan(Date.parse("2020-01-02T00:00:00Z"));
});

test("one that says something else is written whole", async () => {
  await send(here, beat("1"));
  await send(here, beat("2"));
  expect((await row()).version).toBe("2");
});

test("one that repeats what this replica heard last, but not what another heard since, is written whole", async () => {
  await send(here, beat("1"));
  await send(elsewhere, beat("2"));
  await send(here, beat("1"));
  expect((await row()).version).toBe("1");
});

test("one whose row is gone is written whole", async () => {
  await send(here, beat("1"));
  await db`truncate node_heartbeats`;
  await send(here, beat("1"));
  expect((await row()).version).toBe("1");
});

test.each([
  [
    "a time that does not exist",
    JSON.stringify(beat("1", "2026-02-30T00:00:00.000Z")),
    "body.at: not a UTC time",
  ],
  ["the year 0", JSON.stringify(beat("1", "0000-01-01T00:00:00.000Z")), "body.at: not a UTC time"],
  ["a NUL", JSON.stringify(beat("1\0")), "body.agent_version: a NUL is refused"],
  ["a lone surrogate", JSON.stringify(beat("\ud800")), "body.agent_version: a lone surrogate is refused"],
  ["no time", JSON.stringify({ ...beat("1"), at: undefined }), "body.at: "],
  ["a body that ends early", JSON.stringify(beat("1")).slice(0, -1), "the body is not JSON"],
  ["an empty body", "", "the body is empty"],
  ["something else", "[]", "body: "],
])("after a good one, %s is refused and leaves the row as it was", async (_what, body, message) => {
  await send(here, beat("1"));
  const before = await row();
  const reply = await send(here, body);
  expect(reply.status).toBe(400);
  expect(reply.message).toMatch(/^INVALID_INPUT: /);
  expect(reply.message).toContain(message);
  expect(await row()).toEqual(before);
});

test("USE-7: a field that this server does not know is ignored", async () => {
  await send(here, beat("1"));
  expect((await send(here, JSON.stringify({ ...beat("2"), more: { deep: [1] } }))).status).toBe(204);
  expect((await row()).version).toBe("2");
});

test("what a node measured before is not written over what it measured after", async () => {
  await send(here, beat("2", "2026-01-01T00:00:10.000Z"));
  await send(elsewhere, beat("1", "2026-01-01T00:00:05.000Z")); // it hung for a while
  expect((await row()).version).toBe("2");
});

test("a node whose clock was set back is believed again after a while", async () => {
  await send(here, beat("2", "2026-01-01T12:00:00.000Z"));
  await db`update node_heartbeats set received_at = now() - interval '3 minutes'`;
  await send(here, beat("3", "2026-01-01T00:00:00.000Z"));
  expect((await row()).version).toBe("3");
});

test("a heartbeat that the database refuses fails alone: the eighty that came with it are stored", async () => {
  const store = createHeartbeatStore(db, () => undefined);
  const ids = Array.from({ length: 81 }, (_, at) =>
    NodeId.parse(`00000000-0000-4000-8000-${String(at).padStart(12, "0")}`),
  );
  // As if the edge had let it through: a NUL is what no jsonb holds.
  const read = (at: number): Heartbeat => beat(at === 40 ? "a\0b" : "1");
  const results = await Promise.allSettled(
    ids.map(async (id, at) => store({ nodeId: id, digest: null, clockMs: null, read: () => read(at) })),
  );
  expect(results.flatMap(({ status }, at) => (status === "rejected" ? [at] : []))).toEqual([40]);
  const [{ count } = { count: 0 }] = await db<{ count: number }[]>`select count(*) from node_heartbeats`;
  expect(count).toBe(80);
});
