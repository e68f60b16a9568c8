// Stored snapshots that nodes could not believe are not handed out while they are signed again.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { findSnapshots } from "../../../src/server/agents/snapshot-rows.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { createFleet, type Fleet } from "./fleet.ts";

let databases: TestDatabases;
let db: Database;
let fleet: Fleet;
let node: NodeId;

beforeAll(async () => void (databases = await startTestDatabases()));
afterAll(() => databases.stop());
beforeEach(async () => {
  ({ db } = await databases.fresh());
  fleet = await createFleet(db);
  await fleet.believe();
  node = await fleet.node(["core_mesh"]);
  await fleet.compileAll();
});

async function found(changes: Partial<TrustBundle> = {}): Promise<string[]> {
  const [row] = await db`select content from trust_bundles`;
  const content = { ...TrustBundle.parse(row!["content"]), ...changes };
  const query = { nodeId: node, have: {}, resync: [], head: false };
  const [own] = await findSnapshots(db, [query], { epoch: 1, content });
  return own!.map(({ scope }) => scope);
}

test("SNAP-8: snapshots by a key that the bundle revokes are not handed out, although it lists the key", async () => {
  expect(await found()).toContain("node_bootstrap");
  const [signer] = fleet.authority.signers();
  expect(await found({ revoked_keys: [signer.record.key_id] })).toEqual([]);
});

test("SNAP-13: while a node's bootstrap is signed again nothing else is handed out", async () => {
  expect((await found()).length).toBeGreaterThan(1);
  await db`
    update snapshots set signer_key_id = 'other' where node_id = ${node} and scope_type <> 'node_bootstrap'
      and scope_type = (select max(scope_type) from snapshots where node_id = ${node})`;
  expect(await found()).toContain("node_bootstrap");
  await db`update snapshots set signer_key_id = 'other' where scope_type = 'node_bootstrap'`;
  expect(await found()).toEqual([]);
});
