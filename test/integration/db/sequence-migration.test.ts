// A database whose command sequences a false mark has raised: the migrations lower them to the last issued number.

import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../../src/server/db/migrate.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";

const MIGRATIONS = join(import.meta.dirname, "../../../src/server/db/migrations");
const RAISED = Number.MAX_SAFE_INTEGER;

let databases: TestDatabases;
let folder: string;

beforeAll(async () => {
  databases = await startTestDatabases();
  folder = await mkdtemp(join(tmpdir(), "fairlead-sequences-"));
  for (const name of (await readdir(MIGRATIONS)).filter((each) => each < "0014"))
    await copyFile(join(MIGRATIONS, name), join(folder, name));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await databases.stop();
});

test("SNAP-16: the migrations lower a raised sequence to the last issued below it, and leave every other one", async () => {
  const { db } = await databases.empty();
  await migrate(db, folder);
  const nodes = [
    { name: "command-signed", sequence: RAISED, issued: [1, 2, RAISED] },
    { name: "only-raised", sequence: RAISED, issued: [RAISED] },
    { name: "raised-unused", sequence: RAISED, issued: [1, 2, 3] },
    { name: "well", sequence: 7, issued: [6] },
  ];
  for (const { name, sequence, issued } of nodes)
    await db`
      with added as (
        insert into nodes (id, name, chain_profile_id, node_type, roles, command_sequence)
        values (gen_random_uuid(), ${name}, 'web', 'edge', '{thin}', ${sequence}) returning id)
      insert into commands (command_id, node_id, rollout_id, sequence, frame, expires_at)
      select gen_random_uuid(), added.id, gen_random_uuid(), issued, '', now()
      from added, unnest(${issued}::bigint[]) as issued`;
  await migrate(db);
  const rows = await db<{ name: string; sequence: number }[]>`
    select name, command_sequence as sequence from nodes order by name`;
  expect(rows.map(({ name, sequence }) => [name, sequence])).toEqual([
    ["command-signed", 2],
    ["only-raised", 0],
    ["raised-unused", 3],
    ["well", 7],
  ]);
});
