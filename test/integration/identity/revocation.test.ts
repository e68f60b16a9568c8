// When a revocation returns, the node is out on every live replica.

import * as https from "node:https";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { systemClock, type Clock } from "../../../src/host/clock.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { revokeNode } from "../../../src/server/identity/revocation.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { ask, codeOf } from "../../support/server/agent-client.ts";
import {
  enrolledNode,
  initializeSite,
  makeSite,
  startAgentSide,
  type AgentSide,
  type EnrolledNode,
  type Site,
} from "../../support/server/site.ts";

let databases: TestDatabases;
let db: Database;
let site: Site;
let replicas: AgentSide[];
let node: EnrolledNode;
/** The second replica's clocks: a test may let time run away from it. */
let aheadMs = 0;
const secondClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() + aheadMs,
};
let secondDb: Database;

beforeAll(async () => {
  databases = await startTestDatabases();
});
afterAll(async () => databases.stop());
beforeEach(async () => {
  aheadMs = 0;
  const fresh = await databases.fresh();
  db = fresh.db;
  secondDb = databases.open(fresh.socket);
  site = await makeSite(db);
  await initializeSite(db, site);
  replicas = [await startAgentSide(db, site), await startAgentSide(secondDb, site, { clock: secondClock })];
  node = await enrolledNode(db, site, "alpha");
});
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
  await site.remove();
});

const request = (replica: AgentSide, path: string, who = node, agent?: https.Agent) =>
  ask(`${replica.agentUrl}${path}`, {
    ca: site.ca.rootPem,
    cert: who.chain,
    key: who.key.pem,
    ...(agent === undefined ? {} : { agent }),
  });

test("its open polls are closed and its next request is refused, on every replica", async () => {
  const ends = replicas.map((replica) => request(replica, "/agent/v1/hang").catch((error: Error) => error));
  for (const replica of replicas) await expect.poll(() => replica.polling.has(node.nodeId)).toBe(true);

  await revokeNode(db, node.nodeId, "boss", "stolen");

  // What holds when the call returns: nothing is waited for.
  const asked = await Promise.all(replicas.map((replica) => request(replica, "/agent/v1/who")));
  expect(asked.map(codeOf)).toEqual(["NODE_REVOKED", "NODE_REVOKED"]);
  for (const end of await Promise.all(ends)) expect(end).toBeInstanceOf(Error);
  expect(replicas.map(({ polling }) => polling.size)).toEqual([0, 0]);
});

test("a connection that was good is cut, and other nodes keep theirs", async () => {
  const neighbour = await enrolledNode(db, site, "beta");
  const agents = [0, 1].map(() => new https.Agent({ keepAlive: true, maxSockets: 1 }));
  const [mine, theirs] = [agents[0]!, agents[1]!];
  expect((await request(replicas[1]!, "/agent/v1/who", node, mine)).status).toBe(200);
  expect((await request(replicas[1]!, "/agent/v1/who", neighbour, theirs)).status).toBe(200);
  const [socket] = Object.values(theirs.freeSockets).flatMap((sockets) => sockets ?? []);

  await revokeNode(db, node.nodeId, "boss", null);

  const answer = await request(replicas[1]!, "/agent/v1/who", node, mine).catch((error: Error) => error);
  if (!(answer instanceof Error)) expect(codeOf(answer)).toBe("NODE_REVOKED");
  expect((await request(replicas[1]!, "/agent/v1/who", neighbour, theirs)).status).toBe(200);
  const [kept] = Object.values(theirs.freeSockets).flatMap((sockets) => sockets ?? []);
  expect(kept).toBe(socket);
  for (const agent of agents) agent.destroy();
});

test("renewing does not save a revoked node", async () => {
  await revokeNode(db, node.nodeId, "boss", null);
  const answer = await ask(`${replicas[0]!.agentUrl}/agent/v1/renew`, {
    ca: site.ca.rootPem,
    cert: node.chain,
    key: node.key.pem,
    json: { csr: node.key.csr },
  });
  expect(codeOf(answer)).toBe("NODE_REVOKED");
});

test("many revocations at once all return, and all hold everywhere", async () => {
  const nodes = await Promise.all(Array.from({ length: 8 }, (_, i) => enrolledNode(db, site, `many-${i}`)));
  for (const each of nodes) await request(replicas[1]!, "/agent/v1/who", each);
  await Promise.all(
    nodes.map(async (each, i) => {
      await revokeNode(i % 2 === 0 ? db : secondDb, each.nodeId, "boss", null);
      const answers = await Promise.all(replicas.map((replica) => request(replica, "/agent/v1/who", each)));
      expect(answers.map(codeOf)).toEqual(["NODE_REVOKED", "NODE_REVOKED"]);
    }),
  );
});

test("a replica that is cut off refuses every agent by itself, and a revocation waits for it no longer than its lease", async () => {
  const cut = replicas[1]!;
  expect((await request(cut, "/agent/v1/who")).status).toBe(200);
  await secondDb.end({ timeout: 0 });
  const began = performance.now();
  await revokeNode(db, node.nodeId, "boss", null);
  const tookMs = performance.now() - began;
  expect(tookMs).toBeLessThan(LIMITS.replicaLeaseMs + 2_000);
  expect(cut.lease.isHeld()).toBe(false);
  const answer = await request(cut, "/agent/v1/who").catch((error: Error) => error);
  if (!(answer instanceof Error)) expect(codeOf(answer)).toBe("NOT_READY");
  expect(codeOf(await request(replicas[0]!, "/agent/v1/who"))).toBe("NODE_REVOKED");
});

test("a replica whose clock ran past its lease refuses agents until it has renewed it", async () => {
  const paused = replicas[1]!;
  expect(paused.lease.isHeld()).toBe(true);
  aheadMs += LIMITS.replicaLeaseMs;
  expect(paused.lease.isHeld()).toBe(false);
  expect(codeOf(await request(paused, "/agent/v1/who"))).toBe("NOT_READY");
  await expect.poll(() => paused.lease.isHeld(), { timeout: 5_000 }).toBe(true);
  expect((await request(paused, "/agent/v1/who")).status).toBe(200);
});

test("a replica that is gone is not waited for, and a node that is not there is NOT_FOUND", async () => {
  await db`insert into replicas (id, lease_until, revocation_seq)
           values (gen_random_uuid(), now() - interval '1 second', 0)`;
  const began = performance.now();
  await revokeNode(db, node.nodeId, "boss", null);
  expect(performance.now() - began).toBeLessThan(LIMITS.replicaLeaseMs);
  const nobody = "00000000-0000-4000-8000-000000000000" as typeof node.nodeId;
  await expect(revokeNode(db, nobody, "boss", null)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a replica that renews and does not apply is named to the operator", async () => {
  await db`insert into replicas (id, lease_until, revocation_seq)
           values ('00000000-0000-4000-8000-00000000dead', now() + interval '1 hour', 0)`;
  const revoking = revokeNode(db, node.nodeId, "boss", null, { acknowledgeWithinMs: 300 });
  await expect(revoking).rejects.toMatchObject({
    code: "TIMEOUT",
    detail: { replicas: ["00000000-0000-4000-8000-00000000dead"] },
  });
  expect(codeOf(await request(replicas[0]!, "/agent/v1/who"))).toBe("NODE_REVOKED");
});
