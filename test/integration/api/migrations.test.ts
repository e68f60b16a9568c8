// The database's shape, brought up by several replicas that start at once.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../../src/server/db/migrate.ts";
import { ensureCluster } from "../../../src/server/identity/cluster.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";

let databases: TestDatabases;
let folder: string;

beforeAll(async () => {
  databases = await startTestDatabases();
  folder = await mkdtemp(join(tmpdir(), "fairlead-migrations-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await databases.stop();
});

test("of replicas that migrate at once, one applies each file and all go on with the same tables", async () => {
  const { db, socket } = await databases.empty();
  const replicas = [db, databases.open(socket), databases.open(socket)];
  const applied = await Promise.all(replicas.map((replica) => migrate(replica)));
  const files = applied.flat();
  expect(files.length).toBeGreaterThan(0);
  expect(new Set(files).size).toBe(files.length);
  expect(await migrate(db)).toEqual([]);
  expect(await db`select name from migrations`).toHaveLength(files.length);
});

test("replicas that start at once agree on one cluster", async () => {
  const { db, socket } = await databases.fresh();
  const replicas = [db, databases.open(socket), databases.open(socket)];
  const ids = await Promise.all(replicas.map((replica) => ensureCluster(replica)));
  expect(new Set(ids).size).toBe(1);
});

test("a migration that fails leaves nothing behind, and the next start tries it again", async () => {
  const { db } = await databases.empty();
  await writeFile(join(folder, "0001_ok.sql"), "create table a (id int);");
  await writeFile(join(folder, "0002_bad.sql"), "create table b (id int); create table a (id int);");
  await expect(migrate(db, folder)).rejects.toThrow();
  expect(await db`select tablename from pg_tables where tablename in ('a', 'b')`).toHaveLength(1);
  await writeFile(join(folder, "0002_bad.sql"), "create table b (id int);");
  expect(await migrate(db, folder)).toEqual(["0002_bad.sql"]);
});

test("a file that was changed after it was applied is refused", async () => {
  const { db } = await databases.empty();
  await migrate(db, folder);
  await writeFile(join(folder, "0001_ok.sql"), "create table a (id bigint);");
  await expect(migrate(db, folder)).rejects.toMatchObject({ code: "INTERNAL" });
});
