// A database from before nodes had several programs: the one of each node becomes its first profile.

import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../../src/server/db/migrate.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";

const MIGRATIONS = join(import.meta.dirname, "../../../src/server/db/migrations");
const NAME = "0019_node_profiles.sql";

let databases: TestDatabases;
let folder: string;

beforeAll(async () => {
  databases = await startTestDatabases();
  folder = await mkdtemp(join(tmpdir(), "fairlead-profiles-"));
  await mkdir(join(folder, "before"));
  for (const name of (await readdir(MIGRATIONS)).filter((each) => each < NAME))
    await copyFile(join(MIGRATIONS, name), join(folder, "before", name));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await databases.stop();
});

test("ROLL-28: the migration makes a node's profile its first, with its state and its health, and loses neither", async () => {
  const { db } = await databases.empty();
  await migrate(db, join(folder, "before"));
  const states = ["active", "maintenance", "degraded", "down", "failed"];
  await db`
    insert into nodes (id, name, chain_profile_id, node_type, roles, state, enrolled_at)
    select gen_random_uuid(), state, 'chain-' || state, 'edge', '{thin}', state, now() from unnest(${states}::text[]) as state`;
  await db`
    insert into node_health (node_id, well_since, ill_since, seen_restarts, base_restarts, base_at)
    select id, '2026-01-01', '2026-01-02', 7, 5, '2026-01-03' from nodes where name = 'degraded'`;
  await db`update nodes set state_changed_at = '2026-01-04'`;
  await migrate(db);
  const shown = await db<{ name: string; profile: string; program: string; state: string; shown: string }[]>`
    select n.name, p.chain_profile_id as profile, p.state as program, n.state, s.state as shown
    from nodes n join node_profiles p on p.node_id = n.id join shown_states s on s.node_id = n.id order by n.name`;
  expect([...shown]).toEqual(
    states.toSorted().map((name) => ({
      name,
      profile: `chain-${name}`,
      program: name === "down" ? "active" : name,
      state: name === "down" ? "down" : "active",
      shown: name,
    })),
  );
  expect(await db`select 1 from node_profiles where state_changed_at <> '2026-01-04'`).toHaveLength(0);
  const health = await db`
    select chain_profile_id, well_since, ill_since, seen_restarts, base_restarts, base_at from profile_health`;
  expect([...health]).toEqual([
    {
      chain_profile_id: "chain-degraded",
      well_since: new Date("2026-01-01T00:00:00Z"),
      ill_since: new Date("2026-01-02T00:00:00Z"),
      seen_restarts: 7,
      base_restarts: 5,
      base_at: new Date("2026-01-03T00:00:00Z"),
    },
  ]);
});

test("ROLL-28: the database takes no state of a program for a node, and none of a node for a program", async () => {
  const { db } = await databases.fresh();
  const [node] = await db<{ id: string }[]>`
    insert into nodes (id, name, node_type, roles) values (gen_random_uuid(), 'n', 'edge', '{thin}') returning id`;
  for (const state of ["maintenance", "failed"])
    await expect(db`update nodes set state = ${state}`).rejects.toThrow("nodes_state_check");
  await db`insert into node_profiles (node_id, chain_profile_id) values (${node!.id}, 'web')`;
  await expect(db`update node_profiles set state = 'down'`).rejects.toThrow("node_profiles_state_check");
  await expect(
    db`insert into node_profiles (node_id, chain_profile_id) values (${node!.id}, 'web')`,
  ).rejects.toThrow("node_profiles_pkey");
});
