// What a node gets when it asks: in which order, whole or as an increment, with which head.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { SnapshotHeader, versionOf } from "../../../src/core/snapshot/envelope.ts";
import { scopesOf } from "../../../src/core/snapshot/roles.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { markAllDirty } from "../../../src/server/snapshots/mark.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { createFleet, type Fleet } from "./fleet.ts";
import { createReader } from "./reader.ts";

let databases: TestDatabases;
let fleet: Fleet;
let db: Database;

beforeAll(async () => void (databases = await startTestDatabases()));
afterAll(async () => databases.stop());
beforeEach(async () => {
  db = (await databases.fresh()).db;
  fleet = await createFleet(db);
  await fleet.believe();
});

async function caughtUp(id: NodeId) {
  await fleet.compileAll();
  const reader = createReader(fleet, id);
  await reader.catchUp();
  return reader;
}

test("SNAP-13: a new node gets everything at once, the trust bundle and what it is before the rest, with a head", async () => {
  const id = await fleet.node(["core_mesh"], { address: "core.example:7000" });
  await fleet.compileAll();
  const reader = createReader(fleet, id);
  const answer = (await reader.ask())!;
  const taken = reader.take(answer);
  expect(taken.slice(0, 2)).toEqual(["trust_bundle", "node_bootstrap"]);
  expect(taken.toSorted()).toEqual(["trust_bundle", ...scopesOf(["core_mesh"])].toSorted());
  expect(reader.head()!.content.scopes).toMatchObject({ peer_directory: { epoch: 1, version: 1 } });
  expect(await reader.ask()).toBeNull();
});

test("SNAP-1: what is published for a node names in its envelope what it is about", async () => {
  const id = await fleet.node(["core_mesh"]);
  await fleet.route("one");
  await fleet.compileAll();
  const [policy] = await db<{ id: string }[]>`select id from policies where name = 'one'`;
  const answer = (await createReader(fleet, id).ask())!;
  const about = new Map(
    answer.snapshots.map(headerOf).map((header) => [header.scope_type, header.scope_ids]),
  );
  expect(about.get("node_bootstrap")).toEqual([id]);
  expect(about.get("route_policy")).toEqual([policy!.id]);
});

const headerOf = (frame: string): SnapshotHeader =>
  SnapshotHeader.parse(JSON.parse(Buffer.from(decodeFrame(Buffer.from(frame, "base64")).header).toString()));

test("SNAP-13: what is larger than an agent reads at once comes in parts, and the head with the last", async () => {
  const id = await fleet.node(["core_mesh", "ingress", "egress_service", "storage_config", "thin"]);
  await fleet.compileAll();
  const scopes = scopesOf(["core_mesh", "ingress", "egress_service", "storage_config", "thin"]);
  await db`update snapshot_contents set bytes = decode(repeat('20', ${LIMITS.snapshotContentBytesMax}), 'hex')`;
  const reader = createReader(fleet, id);
  const have: Record<string, { epoch: number; version: number }> = {};
  const parts: string[][] = [];
  for (;;) {
    const answer = (await reader.ask({ have }))!;
    expect(JSON.stringify(answer).length).toBeLessThanOrEqual(LIMITS.pollAnswerBytesMax);
    const headers = answer.snapshots.map(headerOf);
    parts.push(headers.map(({ scope_type }) => scope_type));
    for (const header of headers) have[header.scope_type] = versionOf(header);
    if (answer.head !== null) break;
  }
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.flat().toSorted()).toEqual(["trust_bundle", ...scopes].toSorted());
  expect(parts[0]!.slice(0, 2)).toEqual(["trust_bundle", "node_bootstrap"]);
});

describe("a change of what a node has", () => {
  test("SNAP-6: comes as an increment to who stands on its base, and ends in the bytes of the full one", async () => {
    const id = await fleet.node(["core_mesh"]);
    for (const name of ["one", "two", "three", "four", "five", "six"]) await fleet.route(name);
    const reader = await caughtUp(id);
    const late = createReader(fleet, id);
    await db`update policies set body = jsonb_set(body, '{ttl_ms}', '1000') where name = 'two'`;
    await fleet.compileAll();
    const answer = (await reader.ask())!;
    expect([answer.snapshots.length, answer.increments.length]).toEqual([0, 1]);
    const full = (await reader.ask({ resync: ["route_policy"] }))!;
    expect([full.snapshots.length, full.increments.length]).toEqual([1, 0]);
    expect(answer.increments[0]!.length).toBeLessThan(full.snapshots[0]!.length);
    expect(reader.take(answer)).toEqual(["route_policy"]);
    await late.catchUp();
    expect(reader.content("route_policy")).toEqual(late.content("route_policy"));
    expect(reader.hashOf("route_policy")).toBe(late.hashOf("route_policy"));
  });

  test("SNAP-6: comes whole when there is little to save", async () => {
    const reader = await caughtUp(await fleet.node(["core_mesh"]));
    await fleet.route("one");
    await fleet.compileAll();
    const answer = (await reader.ask())!;
    expect([answer.snapshots.length, answer.increments.length]).toEqual([1, 0]);
  });

  test("SNAP-6: comes whole to who missed the version between", async () => {
    const id = await fleet.node(["core_mesh"]);
    for (const name of ["one", "two", "three", "four", "five", "six"]) await fleet.route(name);
    const reader = await caughtUp(id);
    for (const name of ["seven", "eight"]) {
      await fleet.route(name);
      await fleet.compileAll();
    }
    expect(await db`select 1 from snapshots where increment is not null`).toHaveLength(1);
    const answer = (await reader.ask())!;
    expect([answer.snapshots.length, answer.increments.length]).toEqual([1, 0]);
    reader.take(answer);
    expect(await reader.ask()).toBeNull();
  });

  test("SNAP-4: of its roles and organizations is accepted in one answer", async () => {
    const acme = await fleet.organization("acme");
    const id = await fleet.node(["thin"]);
    await fleet.route("of-acme", acme);
    const reader = await caughtUp(id);
    await db`update nodes set roles = '{core_mesh,egress_service}' where id = ${id}`;
    await db`insert into memberships (node_id, organization_id) values (${id}, ${acme})`;
    await fleet.compileAll();
    reader.take((await reader.ask())!);
    expect(await reader.ask()).toBeNull();
    expect(reader.content("route_policy")).toMatchObject({
      routes: [{ name: "of-acme", organization_id: acme }],
    });
  });
});

describe("a head", () => {
  test("SNAP-17: comes when the node's is a minute old, and not before", async () => {
    const reader = await caughtUp(await fleet.node(["thin"]));
    const fresh = Date.now();
    expect(await reader.ask({ headIssuedAt: fresh - LIMITS.headRefreshMs + 5_000 })).toBeNull();
    const answer = await reader.ask({ headIssuedAt: fresh - LIMITS.headRefreshMs - 1_000 });
    expect(answer).toMatchObject({ snapshots: [], increments: [], commands: [] });
    expect(answer!.head).not.toBeNull();
  });

  test("SNAP-10: brings a revocation at once, to the nodes that it is for", async () => {
    const [named, other] = [await fleet.node(["thin"]), await fleet.node(["thin"])];
    const [reader, bystander] = [await caughtUp(named), await caughtUp(other)];
    await db`
      insert into authority_revocations (kind, subject, node_id, actor)
      values ('degraded_permission', 'continue_services', ${named}, 'test')`;
    reader.take((await reader.ask())!);
    expect(reader.head()!.content.revoked).toEqual([
      { kind: "degraded_permission", id: "continue_services" },
    ]);
    expect(await reader.ask()).toBeNull();
    expect(await bystander.ask()).toBeNull();
    await db`insert into authority_revocations (kind, subject, actor) values ('peer', ${named}, 'test')`;
    await bystander.catchUp();
    expect(bystander.head()!.content.revoked).toEqual([{ kind: "peer", id: named }]);
  });
});

test("SNAP-16: a mark that a node claims beyond its commands is not taken over", async () => {
  const id = await fleet.node(["thin"]);
  const reader = await caughtUp(id);
  await reader.ask({ mark: 41 });
  const [row] = await db`select command_sequence from nodes where id = ${id}`;
  expect(row).toEqual({ command_sequence: 0 });
});

test("SNAP-11: in a new epoch nothing of the old one is handed out", async () => {
  const id = await fleet.node(["thin"]);
  await fleet.compileAll();
  await fleet.believe(2, {
    recovery: { from_epoch: 1, reason: "database_restored", opened_at: new Date().toISOString() },
  });
  const reader = createReader(fleet, id);
  expect((await reader.ask())!.snapshots).toHaveLength(1);
  await db`update clusters set epoch = 2`;
  await db.begin(async (tx) => markAllDirty(tx, { force: true }));
  await fleet.compileAll();
  await reader.catchUp();
  expect(reader.have()).toMatchObject({ node_bootstrap: { epoch: 2, version: 1 } });
});

test("SNAP-3: nodes of one view share one content", async () => {
  await db`
    insert into nodes (id, name, node_type, roles, enrolled_at)
    select gen_random_uuid(), 'n' || n, 'edge', '{core_mesh}', now() from generate_series(1, 50) n`;
  await fleet.route(`shared-${randomUUID()}`);
  await fleet.compileAll();
  const [row] = await db`
    select count(*)::int as snapshots, count(distinct content_hash)::int as contents from snapshots
    where scope_type in ('route_policy', 'peer_directory')`;
  expect(row).toEqual({ snapshots: 100, contents: 2 });
});
