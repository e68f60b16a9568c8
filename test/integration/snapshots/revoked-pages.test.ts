// Thousands of revocations on the real database: heads name all of them, the oldest too (SNAP-10).

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { REVOCATIONS_PER_PAGE, type Revocation } from "../../../src/core/snapshot/revocation.ts";
import { openPolls } from "../../../src/server/agents/polls.ts";
import { createRevokedReader } from "../../../src/server/agents/revoked.ts";
import { mendDatedAhead } from "../../../src/server/clock/dated-ahead.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { openPage } from "../../../src/trust/revocation-page.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { until } from "../../support/programs/until.ts";
import { createFleet, type Fleet } from "./fleet.ts";
import { createReader } from "./reader.ts";

let databases: TestDatabases;
let fleet: Fleet;
let db: Database;
let node: NodeId;

beforeAll(async () => void (databases = await startTestDatabases()));
afterAll(async () => databases.stop());
beforeEach(async () => {
  db = (await databases.fresh()).db;
  fleet = await createFleet(db);
  await fleet.believe();
  node = await fleet.node(["core_mesh"]);
  await fleet.compileAll();
});

const revokePeers = (count: number, of: NodeId | null = null) => db`
  insert into authority_revocations (kind, subject, node_id, actor)
  select 'peer', 'peer-' || n, ${of}, 'key:alice' from generate_series(1, ${count}) as n`;

/** Everything that a node learns from its head. */
async function learnt(id: NodeId): Promise<Revocation[]> {
  const reader = createReader(fleet, id);
  await reader.catchUp();
  const { revoked, revoked_pages: pages = [] } = reader.head()!.content;
  const { page } = createRevokedReader(db);
  const fetched = await Promise.all(pages.map(async (digest) => openPage(digest, await page(id, digest))));
  return [...revoked, ...fetched.flatMap((each) => each!)];
}

test("SNAP-10: of 3,000 revocations a head and its pages leave out none, and the oldest is among them", async () => {
  await db`
    insert into authority_revocations (kind, subject, actor) values ('service_assignment', 'validator', 'key:alice')`;
  await revokePeers(3_000);
  const all = await learnt(node);
  expect(all).toHaveLength(3_001);
  expect(all).toContainEqual({ kind: "service_assignment", id: "validator" });
  expect(new Set(all.map(({ id }) => id)).size).toBe(3_001);
});

test("SNAP-10: up to a page of revocations stands in the head itself, as agents of the build before read it", async () => {
  await revokePeers(REVOCATIONS_PER_PAGE);
  const reader = createReader(fleet, node);
  await reader.catchUp();
  expect(reader.head()!.content.revoked).toHaveLength(REVOCATIONS_PER_PAGE);
  expect(reader.head()!.content).not.toHaveProperty("revoked_pages");
});

test("SNAP-10: a node's own revocations are paged as well, and no other node gets their pages", async () => {
  const other = await fleet.node(["core_mesh"]);
  await fleet.compileAll();
  await revokePeers(1_200, node);
  expect(await learnt(node)).toHaveLength(1_200);
  expect(await learnt(other)).toHaveLength(0);
  const reader = createReader(fleet, node);
  await reader.catchUp();
  const [digest] = reader.head()!.content.revoked_pages!;
  await expect(createRevokedReader(db).page(other, digest!)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("SNAP-10: a reader that kept the set notices what was added and what was lifted", async () => {
  await revokePeers(1_100);
  const revoked = createRevokedReader(db);
  const count = async () => {
    const { rest, pages } = (await revoked.read([node])).paged(node);
    return rest.length + pages.length * REVOCATIONS_PER_PAGE;
  };
  expect(await count()).toBe(1_100);
  await db`insert into authority_revocations (kind, subject, actor) values ('peer', ${randomUUID()}, 'key:alice')`;
  expect(await count()).toBe(1_101);
  await db`delete from authority_revocations where subject in ('peer-1', 'peer-2')`;
  expect(await count()).toBe(1_099);
  const { pages } = (await revoked.read([node])).paged(node);
  expect(openPage(pages[0]!.digest, pages[0]!.bytes)).not.toContainEqual({ kind: "peer", id: "peer-1" });
});

test("SNAP-10: a reader that kept the set notices a late commit with a lower number beside a lifted revocation", async () => {
  await revokePeers(3);
  await db`delete from authority_revocations where subject = 'peer-2'`;
  const revoked = createRevokedReader(db);
  const ids = async () => (await revoked.read([node])).paged(node).rest.map(({ id }) => id);
  expect(await ids()).toEqual(["peer-1", "peer-3"]);
  await db`
    insert into authority_revocations (seq, kind, subject, actor)
    select seq + 1, 'peer', 'late', 'key:alice' from authority_revocations where subject = 'peer-1'`;
  await db`delete from authority_revocations where subject = 'peer-1'`;
  expect(await ids()).toEqual(["late", "peer-3"]);
});

test("SNAP-17: a reader that kept the set notices that a revocation dated ahead was given its true date", async () => {
  await revokePeers(1);
  await db`update authority_revocations set created_at = clock_timestamp() + interval '30 days'`;
  const revoked = createRevokedReader(db);
  const isAhead = async () => {
    const { now, newestAt } = await revoked.read([node]);
    return newestAt(node) > now;
  };
  expect(await isAhead()).toBe(true);
  await mendDatedAhead(db);
  expect(await isAhead()).toBe(false);
});

test("SNAP-10: a revocation for one node wakes the poll of that node, and of no other", async () => {
  const other = await fleet.node(["core_mesh"]);
  const polls = await openPolls(db);
  try {
    const [before, untouched] = [polls.stamp(node), polls.stamp(other)];
    await revokePeers(1, node);
    await until("the node is woken", () => polls.stamp(node) !== before);
    expect(polls.stamp(other)).toBe(untouched);
  } finally {
    await polls.close();
  }
});
