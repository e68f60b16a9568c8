// Moves of nodes and profiles are compare-and-set: a row that changed since it was judged stays as it is.

import { afterAll, beforeAll, expect, test } from "vitest";
import { ProfileId } from "../../../src/core/ids.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { changePresences, changeProfiles } from "../../../src/server/health/change-states.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { insertNode } from "../../support/server/health-rows.ts";

let databases: TestDatabases;
let db: Database;
beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
});
afterAll(() => databases.stop());

const events = async (nodeId: string) =>
  db`select data from events where kind = 'node.state' and node_id = ${nodeId}`;

test("ROLL-15: a node that left the judged state meanwhile is not moved, and no event says so", async () => {
  const nodeId = await insertNode(db, "presence", { state: "down" });
  const stale = { nodeId, from: "active", to: "degraded", reason: "late" } as const;
  expect(await db.begin((tx) => changePresences(tx, [stale]))).toBe(0);
  expect(await db`select state from nodes where id = ${nodeId}`).toEqual([{ state: "down" }]);
  expect(await events(nodeId)).toEqual([]);
  expect(await db.begin((tx) => changePresences(tx, [{ ...stale, from: "down" }]))).toBe(1);
  expect(await db`select state from nodes where id = ${nodeId}`).toEqual([{ state: "degraded" }]);
  expect(await events(nodeId)).toHaveLength(1);
});

test("ROLL-28: a profile that a rollout took into maintenance meanwhile is not moved, and no event says so", async () => {
  const nodeId = await insertNode(db, "profile", { program: "maintenance" });
  const profile = ProfileId.parse("web");
  const stale = { nodeId, profile, from: "active", to: "degraded", reason: "crash loop" } as const;
  const state = () => db`select state from node_profiles where node_id = ${nodeId}`;
  expect(await db.begin((tx) => changeProfiles(tx, [stale]))).toBe(0);
  expect(await state()).toEqual([{ state: "maintenance" }]);
  expect(await events(nodeId)).toEqual([]);
  expect(await db.begin((tx) => changeProfiles(tx, [{ ...stale, from: "maintenance" }]))).toBe(1);
  expect(await state()).toEqual([{ state: "degraded" }]);
  expect(await events(nodeId)).toHaveLength(1);
});
