// More marks than one set takes: no node is left between what it was and what it is.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../src/server/db/database.ts";
import { publishDirty } from "../../../src/server/snapshots/dirty.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { createFleet, type Fleet } from "./fleet.ts";

const NODES = 520;

let databases: TestDatabases;
let fleet: Fleet;
let db: Database;

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  fleet = await createFleet(db);
  await db`
    insert into nodes (id, name, node_type, roles, enrolled_at)
    select gen_random_uuid(), 'node-' || n, 'edge', '{egress_service}', now()
    from generate_series(1, ${NODES}::int) as n`;
  await fleet.compileAll();
});
afterAll(() => databases.stop());

/** Nodes that hold a snapshot of an organization which the newest word about themselves does not name. */
const torn = async (): Promise<number> => {
  const [row] = await db<{ nodes: number }[]>`
    with headers as (
      select node_id, scope_type, convert_from(header, 'UTF8')::jsonb->'organization_ids' as organizations from snapshots
    )
    select count(distinct h.node_id)::int as nodes from headers h
    join headers own on own.node_id = h.node_id and own.scope_type = 'node_bootstrap'
    where not own.organizations @> h.organizations`;
  return row!.nodes;
};

const marks = async (): Promise<number> =>
  (await db<{ n: number }[]>`select count(*)::int as n from snapshot_dirty`)[0]!.n;

test("SNAP-3 SNAP-4: after each set a node's organizations are the same in all of its snapshots", async () => {
  const acme = await fleet.organization("acme");
  await db`insert into memberships (node_id, organization_id) select id, ${acme} from nodes`;
  let sets = 0;
  for (let left = await marks(); left > 0; left = await marks()) {
    const { cleared } = await publishDirty(db, fleet.authority, Date.now);
    expect(cleared).toBeGreaterThan(0);
    expect(await torn()).toBe(0);
    sets += 1;
  }
  expect(sets).toBeGreaterThan(1);
});
