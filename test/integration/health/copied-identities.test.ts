// Two machines with one copied key are noticed, told, and can be told apart; a restart is not taken for a copy.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { COPIED_REMEDY, copySeenMs } from "../../../src/core/incident/copied-identity.ts";
import type { NodeId } from "../../../src/core/ids.ts";
import type { AgentInstance, Heartbeat } from "../../../src/core/protocol/agent-api.ts";
import { createHeartbeatStore, type StoreHeartbeat } from "../../../src/server/agents/heartbeats.ts";
import { getNode } from "../../../src/server/api/node-views.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { lookForCopies } from "../../../src/server/health/copied-identities.ts";
import { revokeNode } from "../../../src/server/identity/revocation.ts";
import { listIncidents } from "../../../src/server/incidents/read.ts";
import { digestOfJson } from "../../../src/trust/digest.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { enrolledNode, initializeSite, makeSite, type Site } from "../../support/server/site.ts";

let databases: TestDatabases;
let db: Database;
let site: Site;
/** What each replica knows of a node is in its own memory. */
let replicas: StoreHeartbeat[];
let nodeId: NodeId;
let nodes = 0;

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  await initializeSite(db, site);
});
afterAll(async () => {
  await site.remove();
  await databases.stop();
});
beforeEach(async () => {
  replicas = [0, 1].map(() => createHeartbeatStore(db, () => undefined));
  ({ nodeId } = await enrolledNode(db, site, `n-${++nodes}`));
});

const started = (host: string): AgentInstance => ({
  id: randomUUID(),
  host,
  started_at: "2026-01-01T00:00:00.000Z",
});

let clock = Date.parse("2026-01-01T00:00:00.000Z");

async function beat(instance: AgentInstance | undefined, { replica = 0, at = (clock += 1000) } = {}) {
  const heartbeat: Heartbeat = {
    at: new Date(at).toISOString(),
    agent_version: "1",
    applied: {},
    programs: [],
    last_rejection: null,
    ...(instance === undefined ? {} : { instance }),
  };
  const { at: _, ...content } = heartbeat;
  const address = instance === undefined ? null : `10.0.0.${instance.host.length}`;
  await replicas[replica]!({
    nodeId,
    address,
    digest: digestOfJson(content),
    clockMs: null,
    read: () => heartbeat,
  });
}

async function incidents(status?: "open" | "resolved") {
  const filter = { node_id: nodeId, limit: 10, ...(status === undefined ? {} : { status }) };
  return (await listIncidents(db, filter)).incidents;
}

describe("a node whose agent is heard", () => {
  test("again and again, and restarted several times, has one machine", async () => {
    for (const host of ["a", "a", "b"]) {
      const instance = started(host);
      for (let beats = 0; beats < 3; beats++) await beat(instance);
    }
    await lookForCopies(db);
    expect(await incidents()).toEqual([]);
    expect((await getNode(db, nodeId)).copies).toEqual([]);
  });

  test("without an instance, as older agents say it, between others has one machine", async () => {
    const instance = started("a");
    for (const each of [instance, undefined, instance, undefined, instance]) await beat(each);
    await lookForCopies(db);
    expect(await incidents()).toEqual([]);
  });

  test("late, after its successor, has one machine", async () => {
    const [before, after] = [started("a"), started("a")];
    await beat(before);
    const late = clock + 500;
    await beat(after);
    await beat(before, { at: late, replica: 1 });
    await beat(after);
    await lookForCopies(db);
    expect(await incidents()).toEqual([]);
  });
});

describe("two agents that take turns under one key", () => {
  test.each([
    ["at one replica", [0, 0]],
    ["at two replicas", [0, 1]],
  ])("%s are one open incident that names both machines", async (_, [first, second]) => {
    const [left, right] = [started("left"), started("right-1")];
    for (let turn = 0; turn < 3; turn++) {
      await beat(left, { replica: first! });
      await beat(right, { replica: second! });
    }
    expect(await lookForCopies(db)).toBeGreaterThan(0);
    await lookForCopies(db);
    const open = await incidents("open");
    expect(open).toHaveLength(1);
    expect(open[0]).toMatchObject({
      category: "identity_copied",
      severity: "critical",
      title: `two machines use the key of node n-${nodes}`,
      recovery_plan: COPIED_REMEDY,
    });
    const { copies } = await getNode(db, nodeId);
    expect(copies.map((machine) => ({ ...machine, heard_at: undefined }))).toEqual([
      { ...right, address: "10.0.0.7", heard_at: undefined },
      { ...left, address: "10.0.0.4", heard_at: undefined },
    ]);
    const events = await db`select kind from events where node_id = ${nodeId} and kind = 'incident.opened'`;
    expect(events).toHaveLength(1);
  });

  async function copied(): Promise<void> {
    const [left, right] = [started("left"), started("right")];
    for (const each of [left, right, left, right]) await beat(each);
    await lookForCopies(db);
    expect(await incidents("open")).toHaveLength(1);
  }

  test("are told once more as over when one of them has been silent for the window", async () => {
    await copied();
    await lookForCopies(db, Date.now() + copySeenMs + 60_000);
    expect(await incidents("open")).toEqual([]);
    expect(await incidents("resolved")).toMatchObject([{ resolved_by: "fairlead" }]);
  });

  test("are over when their node is revoked", async () => {
    await copied();
    await revokeNode(db, nodeId, "operator", "copied");
    await lookForCopies(db);
    expect(await incidents("resolved")).toMatchObject([{ category: "identity_copied" }]);
  });
});

describe("a machine that is cloned with its memory", () => {
  const turned = ({ id: follows, host, started_at }: AgentInstance): AgentInstance => ({
    id: randomUUID(),
    host,
    started_at,
    follows,
  });

  test("SNAP-20: a machine cloned with its memory is noticed once each clone has turned to an id of its own, and both are named", async () => {
    const before = started("same-host");
    for (let beats = 0; beats < 3; beats++) await beat(before);
    const [left, right] = [turned(before), turned(before)];
    for (let turn = 0; turn < 2; turn++) for (const each of [left, right]) await beat(each);
    await lookForCopies(db);
    expect(await incidents("open")).toMatchObject([{ category: "identity_copied" }]);
    const { copies } = await getNode(db, nodeId);
    expect(copies.map(({ id }) => id)).toEqual([right.id, left.id]);
  });

  test("SNAP-20: two clones that go on turning are one incident, which names no id that was left behind", async () => {
    let [left, right] = [started("same-host"), started("same-host")];
    for (let turn = 0; turn < 4; turn++) {
      for (const each of [left, right, left, right]) await beat(each);
      [left, right] = [turned(left), turned(right)];
    }
    for (const each of [left, right]) await beat(each);
    await lookForCopies(db);
    expect(await incidents("open")).toHaveLength(1);
    expect((await getNode(db, nodeId)).copies.map(({ id }) => id)).toEqual([right.id, left.id]);
  });

  test("SNAP-20: one machine is not taken for two when it turns, loses an answer, restarts, or goes back to an older state of its memory", async () => {
    const first = started("a");
    const second = turned(first);
    const third = turned(second);
    await beat(first);
    for (const each of [second, second, third]) await beat(each); // the answer to the first was lost: it is sent again
    const unheard = turned(turned(third));
    await beat(unheard);
    await beat(first); // its memory was restored
    const later = turned(first);
    for (const each of [later, turned(later), started("a")]) await beat(each);
    await lookForCopies(db);
    expect(await incidents()).toEqual([]);
    expect((await getNode(db, nodeId)).copies).toEqual([]);
  });
});

test("three agents that take turns under one key are found as well", async () => {
  const agents = ["x", "yy", "zzz"].map(started);
  for (let turn = 0; turn < 3; turn++) for (const each of agents) await beat(each);
  await lookForCopies(db);
  expect(await incidents("open")).toHaveLength(1);
  expect((await getNode(db, nodeId)).copies.map(({ host }) => host)).toEqual(["zzz", "yy", "x"]);
});
