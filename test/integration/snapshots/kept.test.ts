// What is kept of earlier versions, and which contents: for as long as something refers to them, and no longer.

import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { dropUnusedContents, storeContents } from "../../../src/server/snapshots/contents.ts";
import { markAllDirty } from "../../../src/server/snapshots/mark.ts";
import { sealContent } from "../../../src/trust/sealed-content.ts";
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

test("SNAP-3: of earlier versions a few are kept, and no content that nothing refers to lives for ever", async () => {
  const id = await fleet.node(["core_mesh"]);
  for (let round = 0; round < 7; round++) {
    await fleet.route(`route-${round}`);
    await fleet.compileAll();
  }
  const rows = await db<{ config_version: number }[]>`
    select config_version from snapshot_history where node_id = ${id} and scope_type = 'route_policy' order by 1`;
  expect(rows.map((row) => row.config_version)).toEqual([4, 5, 6]);
  const contents = async () =>
    (await db`select count(*)::int as n from snapshot_contents`)[0]!["n"] as number;
  const [before, [used]] = [
    await contents(),
    await db`
      select count(distinct content_hash)::int as n from (
        select content_hash from snapshots union select content_hash from snapshot_history) u`,
  ];
  await dropUnusedContents(db);
  expect(await contents()).toBe(before);
  await db`update snapshot_contents set created_at = now() - interval '2 days'`;
  await dropUnusedContents(db);
  expect(await contents()).toBe(used!["n"]);
  expect(before).toBeGreaterThan(used!["n"] as number);
});

test("SNAP-3: versions of an epoch before are kept until the new one has as many", async () => {
  const id = await fleet.node(["thin"]);
  const publish = async (times: number) => {
    for (let round = 0; round < times; round++) {
      await db.begin(async (tx) => markAllDirty(tx, { force: true }));
      await fleet.compileAll();
    }
  };
  const kept = async () =>
    (
      await db<{ epoch: number; version: number }[]>`
        select authority_epoch as epoch, config_version as version from snapshot_history
        where node_id = ${id} and scope_type = 'node_bootstrap' order by 1, 2`
    ).map(({ epoch, version }) => [epoch, version]);
  await publish(3);
  await db`update clusters set epoch = 2`;
  await publish(LIMITS.snapshotVersionsKept - 1);
  expect(await kept()).toEqual(
    [1, 2, 3]
      .map((version) => [1, version])
      .concat([
        [2, 1],
        [2, 2],
      ]),
  );
  await publish(1);
  expect(await kept()).toEqual([1, 2, 3].map((version) => [2, version]));
});

test("SNAP-3: a content that a publisher has found is not dropped before the publisher's version names it", async () => {
  const id = await fleet.node(["thin"]);
  await fleet.compileAll();
  const old = sealContent("route_policy", { routes: [] });
  await db.begin(async (tx) => storeContents(tx, [{ content: old }]));
  await db`update snapshot_contents set created_at = now() - interval '2 days'`;
  const isThere = async () =>
    (await db`select 1 from snapshot_contents where content_hash = ${old.content_hash}`).length === 1;
  let dropped: Promise<void> | undefined;
  await db.begin(async (tx) => {
    await storeContents(tx, [{ content: old }]);
    dropped = dropUnusedContents(replica);
    await vi.waitFor(async () => expect(await waitingForLocks()).toBe(1), { timeout: 60_000 });
    await tx`update snapshots set content_hash = ${old.content_hash} where node_id = ${id}`;
  });
  await dropped;
  expect(await isThere()).toBe(true);
  await db`delete from snapshots`;
  await db`update snapshot_contents set created_at = now() - interval '2 days'`;
  await dropUnusedContents(db);
  expect(await isThere()).toBe(false);
});

test("SNAP-3: a content that is being dropped while it is published is stored again", async () => {
  await fleet.node(["thin"]);
  await fleet.compileAll();
  const old = sealContent("route_policy", { routes: [] });
  await db.begin(async (tx) => storeContents(tx, [{ content: old }]));
  await db`update snapshot_contents set created_at = now() - interval '2 days'`;
  let stored: Promise<unknown> | undefined;
  await replica.begin(async (tx) => {
    await tx`delete from snapshot_contents where content_hash = ${old.content_hash}`;
    stored = db.begin(async (publisher) => storeContents(publisher, [{ content: old }]));
    await vi.waitFor(async () => expect(await waitingForLocks()).toBe(1), { timeout: 60_000 });
  });
  await stored;
  expect(await db`select 1 from snapshot_contents where content_hash = ${old.content_hash}`).toHaveLength(1);
});

const waitingForLocks = async () =>
  (
    await db`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  ).length;
