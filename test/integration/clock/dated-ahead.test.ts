// Rows that a clock dated ahead, on a real database: after the correction they hold nothing up (SNAP-17).

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { mendDatedAhead } from "../../../src/server/clock/dated-ahead.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { evaluateHealth } from "../../../src/server/health/evaluate.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { beat, insertNode, insertRollout, insertRolloutNode } from "../../support/server/health-rows.ts";

let databases: TestDatabases;
let db: Database;
beforeAll(async () => void (databases = await startTestDatabases()));
afterAll(async () => databases.stop());
beforeEach(async () => void ({ db } = await databases.fresh()));

const AHEAD = "400 days";
const isAhead = (column: string) => db`${db(column)} > now() + interval '1 minute'`;

test("SNAP-17: times of a node's upgrade that were dated ahead become the time of the correction, others stay", async () => {
  const rollout = await insertRollout(db, { status: "running" });
  const [ahead, right] = [await insertNode(db, "ahead"), await insertNode(db, "right")];
  for (const id of [ahead, right]) await insertRolloutNode(db, rollout, id);
  const times = ["launched_at", "installed_at", "ended_at", "silent_since"];
  for (const column of times) {
    await db`update rollout_nodes set ${db(column)} = now() + ${AHEAD}::interval where node_id = ${ahead}`;
    await db`update rollout_nodes set ${db(column)} = now() - interval '1 hour' where node_id = ${right}`;
  }
  await db`update rollouts set wake_at = now() + ${AHEAD}::interval`;
  await mendDatedAhead(db);
  for (const column of times) {
    expect((await db`select 1 from rollout_nodes where ${isAhead(column)}`).length, column).toBe(0);
    const old = db`${db(column)} < now() - interval '59 minutes'`;
    expect((await db`select 1 from rollout_nodes where ${old}`).length, column).toBe(1);
  }
  expect((await db`select 1 from rollouts where ${isAhead("wake_at")}`).length).toBe(0);
});

test("SNAP-17: a node and a program that were degraded while the clock was ahead recover in their usual time", async () => {
  const node = await insertNode(db, "n1", { state: "degraded", program: "degraded" });
  for (const table of ["nodes", "node_profiles"])
    await db`update ${db(table)} set state_changed_at = now() + ${AHEAD}::interval`;
  await db`insert into node_health (node_id, well_since) values (${node}, now() + ${AHEAD}::interval)`;
  await db`
    insert into profile_health (node_id, chain_profile_id, well_since, seen_restarts, base_restarts, base_at)
    values (${node}, 'web', now() + ${AHEAD}::interval, 0, 0, now() + ${AHEAD}::interval)`;
  await mendDatedAhead(db);
  const states = async () =>
    db`select n.state as node, np.state as program from nodes n join node_profiles np on np.node_id = n.id`;
  const later = LIMITS.recoveryMs + 1_000;
  await beat(db, node, { agoMs: -later });
  const before = new Date(Date.now() + LIMITS.recoveryMs - 5_000);
  await db`insert into health_watch (last_look_at, hearing_since) values (${before}, now() - interval '1 day')`;
  await evaluateHealth(db, before.getTime());
  expect(await states()).toEqual([{ node: "degraded", program: "degraded" }]);
  await evaluateHealth(db, Date.now() + later);
  expect(await states()).toEqual([{ node: "active", program: "active" }]);
});
