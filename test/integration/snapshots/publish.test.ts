// From marks to published snapshots: what is published, what is not, and what happens when something goes wrong.

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { createHeartbeatStore } from "../../../src/server/agents/heartbeats.ts";
import { createReportStore } from "../../../src/server/agents/reports.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { NodeId } from "../../../src/core/ids.ts";
import { Heartbeat } from "../../../src/core/protocol/agent-api.ts";
import { scopesOf } from "../../../src/core/snapshot/roles.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { createServerMetrics } from "../../../src/server/metrics/server-metrics.ts";
import { NODES_CHANNEL, readNotice } from "../../../src/server/rollout/wake.ts";
import { publishDirty } from "../../../src/server/snapshots/dirty.ts";
import { startSnapshotLoop } from "../../../src/server/snapshots/loop.ts";
import { markAllDirty, markDue } from "../../../src/server/snapshots/mark.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { createFleet, type Fleet } from "./fleet.ts";

let databases: TestDatabases;
let fleet: Fleet;
let db: Database;
let replica: Database;

beforeAll(async () => void (databases = await startTestDatabases()));
afterAll(async () => databases.stop());
beforeEach(async () => {
  const made = await databases.fresh();
  db = made.db;
  replica = databases.open(made.socket);
  fleet = await createFleet(db);
});

const total = (sets: readonly { published: number }[]): number =>
  sets.reduce((sum, { published }) => sum + published, 0);

test("SNAP-3: one changed node recompiles only its own", async () => {
  const nodes = [
    await fleet.node(["thin"]),
    await fleet.node(["egress_service"]),
    await fleet.node(["ingress"]),
  ];
  await fleet.compileAll();
  const before = await fleet.versions();
  const acme = await fleet.organization("acme");
  await db`insert into memberships (node_id, organization_id) values (${nodes[0]!}, ${acme})`;
  await fleet.compileAll();
  const after = await fleet.versions();
  const changed = Object.keys(after).filter((key) => after[key] !== before[key]);
  expect(changed.toSorted()).toEqual(
    scopesOf(["thin"])
      .map((scope) => `${nodes[0]!} ${scope}`)
      .toSorted(),
  );
  expect(await fleet.contentOf(nodes[0]!, "node_bootstrap")).toMatchObject({
    membership: { roles: ["thin"], organization_ids: [acme] },
  });
});

test("SNAP-3: compiled again from the same rows it is the same, and is not published again", async () => {
  const id = await fleet.node(["core_mesh"], { address: "core.example:7000" });
  await fleet.compileAll();
  const before = await fleet.versions();
  await db.begin(async (tx) => markAllDirty(tx));
  const sets = await fleet.compileAll();
  expect(total(sets)).toBe(0);
  expect(sets[0]).toMatchObject({ unchanged: scopesOf(["core_mesh"]).length });
  expect(await fleet.versions()).toEqual(before);
  expect(await fleet.contentOf(id, "peer_directory")).toEqual({
    peers: [{ node_id: id, address: "core.example:7000", roles: ["core_mesh"] }],
  });
});

test("SNAP-4: a role that is taken away empties what it alone could hold", async () => {
  const id = await fleet.node(["core_mesh", "thin"]);
  await fleet.compileAll();
  await db`insert into authority_revocations (kind, subject, node_id, actor) values ('role_assignment', 'core_mesh', ${id}, 'test')`;
  await fleet.compileAll();
  expect(await fleet.contentOf(id, "peer_directory")).toEqual({});
  expect(await fleet.contentOf(id, "node_bootstrap")).toMatchObject({ membership: { roles: ["thin"] } });
});

test("SNAP-5: what holds a secret is refused for its node alone, and the refusal does not repeat it", async () => {
  const acme = await fleet.organization("acme");
  const [leaky, other] = [
    await fleet.node(["egress_service"], { organizations: [acme] }),
    await fleet.node(["egress_service"], { organizations: [acme] }),
  ];
  await fleet.compileAll();
  const secret = "AKIAABCDEFGHIJKLMNOP";
  const [service] = await db<{ id: string }[]>`
    insert into services (name, organization_id, description) values ('leaky', ${acme}, ${secret}) returning id`;
  await db`insert into service_nodes (service_id, node_id) values (${service!.id}, ${leaky})`;
  await db`insert into memberships (node_id, organization_id) values (${other}, ${await fleet.organization("more")})`;
  const before = await fleet.versions();
  const sets = await fleet.compileAll();
  expect(sets.flatMap((set) => set.refused)).toMatchObject([
    { nodeId: leaky, code: "SNAPSHOT_SECRET_FOUND" },
  ]);
  const after = await fleet.versions();
  expect(after[`${leaky} node_runtime`]).toBe(before[`${leaky} node_runtime`]);
  expect(after[`${other} node_runtime`]).toBe(before[`${other} node_runtime`]! + 1);
  const refusals = await db`select scope_type, code, path, message from snapshot_refusals`;
  expect(refusals).toMatchObject([{ scope_type: "node_runtime", path: "content.services.0.description" }]);
  const events = await db`select node_id, data from events where kind = 'snapshot.refused'`;
  expect(events).toMatchObject([{ node_id: leaky, data: { code: "SNAPSHOT_SECRET_FOUND" } }]);
  expect(JSON.stringify([refusals, events])).not.toContain(secret);

  await db`update services set description = null`;
  await fleet.compileAll();
  expect(await db`select 1 from snapshot_refusals`).toHaveLength(0);
  expect(await fleet.contentOf(leaky, "node_runtime")).toMatchObject({ services: [{ name: "leaky" }] });
});

test("SNAP-3: two replicas at once publish each change once", async () => {
  for (let count = 0; count < 12; count++) await fleet.node(["egress_service"]);
  const work = async (own: Database) => {
    let published = 0;
    for (;;) {
      const set = await publishDirty(own, fleet.authority, Date.now);
      published += set.published;
      if (set.claimed === 0 && (await fleet.marked()).length === 0) return published;
    }
  };
  const counts = await Promise.all([work(db), work(replica)]);
  const versions = Object.values(await fleet.versions());
  expect(counts[0] + counts[1]).toBe(versions.length);
  expect(new Set(versions)).toEqual(new Set([1]));
});

test("SNAP-3: a publisher that dies in the middle leaves its marks, and the next one does the work once", async () => {
  const id = await fleet.node(["thin"]);
  const marks = await fleet.marked();
  let signed = 0;
  const dying = {
    ...fleet.authority,
    signers: () => {
      if (++signed > 3) throw new Error("killed");
      return fleet.authority.signers();
    },
  };
  await expect(publishDirty(db, dying, Date.now)).rejects.toThrow("killed");
  expect(await fleet.marked()).toEqual(marks);
  expect(await fleet.versions()).toEqual({});
  await fleet.compileAll();
  expect(Object.values(await fleet.versions())).toEqual(scopesOf(["thin"]).map(() => 1));
  expect(await fleet.contentOf(id, "node_bootstrap")).toMatchObject({ membership: { node_id: id } });
});

test("SNAP-13: the loop publishes what is marked by itself, and wakes the nodes that it is for", async () => {
  const woken = new Set<string>();
  const listener = await replica.listen(NODES_CHANNEL, (ids) => {
    for (const woke of readNotice(ids).nodeIds) woken.add(woke);
  });
  const metrics = createServerMetrics();
  const deps = { db, authority: fleet.authority, clock: systemClock, metrics, log: silentLogger };
  const loops = [await startSnapshotLoop(deps), await startSnapshotLoop({ ...deps, db: replica })];
  const id = await fleet.node(["thin"]);
  await vi.waitUntil(() => woken.has(id), { timeout: 20_000 });
  await Promise.all(loops.map((loop) => loop.stop()));
  await listener.unlisten();
  expect(Object.values(await fleet.versions())).toEqual(scopesOf(["thin"]).map(() => 1));
  const { text } = await metrics.scrape();
  expect(text).toContain(`fairlead_snapshots_total{outcome="published"} ${scopesOf(["thin"]).length}`);
});

test("SNAP-3: a change that commits while its node is compiled keeps its mark", async () => {
  const id = await fleet.node(["thin"]);
  const acme = await fleet.organization("acme");
  let changed = false;
  const meanwhile = {
    ...fleet.authority,
    follow: async () => {
      if (!changed) await replica`insert into memberships (node_id, organization_id) values (${id}, ${acme})`;
      changed = true;
    },
  };
  await publishDirty(db, meanwhile, Date.now);
  expect(await fleet.marked()).not.toEqual([]);
  await fleet.compileAll();
  expect(await fleet.contentOf(id, "node_bootstrap")).toMatchObject({
    membership: { organization_ids: [acme] },
  });
});

describe("what has not changed is published anew", () => {
  test("SNAP-3: when it is due, and not before", async () => {
    await fleet.node(["thin"]);
    await fleet.compileAll();
    expect(await markDue(db, Date.now())).toBe(0);
    const later = Date.now() + LIMITS.snapshotLifetimeMs / 2 + 1_000;
    expect(await markDue(db, later)).toBe(scopesOf(["thin"]).length);
    expect(await markDue(db, later)).toBe(0);
    expect(total(await fleet.compileAll(() => later))).toBe(scopesOf(["thin"]).length);
  });

  test("SNAP-8: when it is forced; SNAP-11: in a new epoch from version 1 on", async () => {
    const id = await fleet.node(["thin"]);
    await fleet.compileAll();
    await db.begin(async (tx) => markAllDirty(tx, { force: true }));
    await fleet.compileAll();
    expect((await fleet.versions())[`${id} node_bootstrap`]).toBe(2);
    await db`update clusters set epoch = 2`;
    await db.begin(async (tx) => markAllDirty(tx));
    await fleet.compileAll();
    const rows = await db`select authority_epoch, config_version from snapshots`;
    expect(rows.every((row) => row["authority_epoch"] === 2 && row["config_version"] === 1)).toBe(true);
  });
});

test("SNAP-13: nothing that a node reports changes what is compiled for it", async () => {
  const id: NodeId = await fleet.node(["egress_service"]);
  await fleet.compileAll();
  const contents = () => db`select node_id, scope_type, content_hash from snapshots order by 1, 2`;
  const before = await contents();
  const heartbeat = Heartbeat.parse({
    at: new Date().toISOString(),
    agent_version: "9.9.9",
    applied: { node_bootstrap: { epoch: 7, version: 999 }, peer_directory: { epoch: 7, version: 999 } },
    programs: [],
    last_rejection: null,
  });
  await createHeartbeatStore(
    db,
    () => undefined,
  )({ nodeId: id, digest: null, clockMs: null, read: () => heartbeat });
  const rejection = { code: "INTENT_EXPIRED", subject: "me", reason: "roles: core_mesh", at: heartbeat.at };
  const report = {
    report_id: crypto.randomUUID(),
    command_id: crypto.randomUUID() as never,
    at: heartbeat.at,
    body: { kind: "refused" as const, rejection },
  };
  await createReportStore(db, () => undefined)({ nodeId: id, request: { reports: [report], heartbeat } });
  expect(await fleet.marked()).toEqual([]);
  await db.begin(async (tx) => markAllDirty(tx));
  await fleet.compileAll();
  expect(await contents()).toEqual(before);
});
