// Statements over a whole fleet that the planner knows nothing of yet. A bound, whatever the plan: the one that compared
// every node with every other was seen with 10,000 nodes of a running site, and did not come up over rows alone.

import { afterAll, beforeAll, expect, test } from "vitest";
import { RolloutId } from "../../../src/core/ids.ts";
import { RolloutCreateManual } from "../../../src/core/rollout/create.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { findNodes } from "../../../src/server/rollout/eligible-nodes.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { manualRequest } from "../../support/server/creation-site.ts";

const PROFILE = "uncounted-fleet";
const NODES = 5_000;

let databases: TestDatabases;
let db: Database;

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  await db`alter table nodes set (autovacuum_enabled = off)`;
  await db`alter table node_config_state set (autovacuum_enabled = off)`;
  await db`
    insert into nodes (id, name, chain_profile_id, node_type, roles, enrolled_at, state)
    select gen_random_uuid(), 'node-' || n, ${PROFILE}, 'edge', '{egress_service}', now(), 'active'
    from generate_series(1, ${NODES}::int) as n`;
  await db`
    insert into node_config_state (node_id, chain_profile_id, binary_version, fingerprint)
    select id, chain_profile_id, '2.0.0', ${`sha256:${"1".repeat(64)}`} from nodes`;
});
afterAll(() => databases.stop());

test("ROLL-3: the nodes of the next rollout are found by looking at each once", async () => {
  const request = RolloutCreateManual.parse({
    ...manualRequest({ chain_profile_id: PROFILE, node_type: "edge" }),
    id: RolloutId.parse(crypto.randomUUID()),
    source_version: "2.0.0",
    target_version: "3.0.0",
  });
  const { found, read } = await db.begin(async (tx) => {
    const nodes = await findNodes(tx, request);
    const [seen] = await tx<{ rows: number }[]>`
      select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
      where relname in ('nodes', 'node_config_state')`;
    return { found: nodes.length, read: seen!.rows };
  });
  expect(found).toBe(NODES);
  expect(read).toBeLessThan(10 * NODES);
});
