// Health of nodes on the real database: what the evaluators change, and what they leave alone.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import type { NodeId } from "../../../src/core/ids.ts";
import { silentLogger } from "../../../src/host/log.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { LOCKS } from "../../../src/server/db/locks.ts";
import { freeStuckNodes } from "../../../src/server/health/cleanup.ts";
import { evaluateHealth } from "../../../src/server/health/evaluate.ts";
import { startHealthLoops } from "../../../src/server/health/loop.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { until } from "../../support/programs/until.ts";
import type { ProfileState } from "../../../src/core/health/evaluate.ts";
import type { Presence } from "../../../src/core/health/presence.ts";
import {
  beat,
  insertNode,
  insertProfile,
  insertRollout,
  insertRolloutNode,
} from "../../support/server/health-rows.ts";

let databases: TestDatabases;
let db: Database;

beforeAll(async () => {
  databases = await startTestDatabases();
});
beforeEach(async () => {
  ({ db } = await databases.fresh());
  await watchedFor(3_600_000);
});
afterAll(() => databases.stop());

/** Somebody has been looking all the time. */
const watchedFor = async (ms: number) => db`
  insert into health_watch (last_look_at, hearing_since) values (now(), now() - make_interval(secs => ${ms / 1000}))`;
/** As it is shown. */
const stateOf = async (id: NodeId) =>
  (await db<{ state: string }[]>`select state from shown_states where node_id = ${id}`)[0]!.state;
const programState = async (id: NodeId, profile = "web") =>
  (
    await db<{ state: string }[]>`
      select state from node_profiles where node_id = ${id} and chain_profile_id = ${profile}`
  )[0]!.state;
const events = async () => {
  const rows = await db<{ node_id: string; data: object }[]>`
    select node_id, data from events where kind = 'node.state' order by id`;
  return rows.map(({ node_id, data }) => ({ node_id, ...data }));
};
const later = (ms: number) => Date.now() + ms;

describe("evaluators (ROLL-15)", () => {
  test("ROLL-15: silence makes a node degraded, then down; a heartbeat brings it back by way of degraded", async () => {
    const node = await insertNode(db, "n1");
    await beat(db, node, { agoMs: LIMITS.heartbeatLateMs + 1_000 });
    expect(await evaluateHealth(db)).toBe(1);
    expect(await stateOf(node)).toBe("degraded");
    await beat(db, node, { agoMs: LIMITS.heartbeatLostMs + 1_000 });
    expect(await evaluateHealth(db)).toBe(1);
    expect(await stateOf(node)).toBe("down");
    expect(await evaluateHealth(db)).toBe(0);
    await beat(db, node);
    expect(await evaluateHealth(db)).toBe(1);
    expect(await evaluateHealth(db)).toBe(0);
    expect(await stateOf(node)).toBe("degraded");
    await db`update node_heartbeats set received_at = now() + interval '62 seconds'`;
    await db`update health_watch set last_look_at = now() + interval '61 seconds'`;
    expect(await evaluateHealth(db, later(LIMITS.recoveryMs + 2_000))).toBe(1);
    expect(await stateOf(node)).toBe("active");
    const ways = [
      ["active", "degraded", "HEARTBEAT_LATE"],
      ["degraded", "down", "HEARTBEAT_LOST"],
      ["down", "degraded", "HEARTBEAT_BACK"],
      ["degraded", "active", "RECOVERED"],
    ];
    expect(await events()).toEqual(ways.map(([from, to, reason]) => ({ node_id: node, from, to, reason })));
  });

  test("ROLL-15: a node in maintenance raises no alarm, nor does one that is revoked or not yet enrolled", async () => {
    const nodes = [
      await insertNode(db, "upgrading", { program: "maintenance" }),
      await insertNode(db, "revoked", { revoked: true }),
    ];
    for (const node of nodes) await beat(db, node, { agoMs: 3_600_000, health: "critical", restarts: 50 });
    await insertNode(db, "not enrolled", { enrolled: false });
    expect(await evaluateHealth(db)).toBe(0);
    expect(await events()).toEqual([]);
  });

  test("ROLL-15: a degraded program whose probe is refused for ten minutes is failed, with an event, and comes back by itself", async () => {
    const node = await insertNode(db, "unreachable", { program: "degraded" });
    await beat(db, node, { health: "critical" });
    await evaluateHealth(db);
    expect(await stateOf(node)).toBe("degraded");
    await db`update profile_health set ill_since = now() - interval '11 minutes' where node_id = ${node}`;
    await db`update node_profiles set state_changed_at = now() - interval '11 minutes' where node_id = ${node}`;
    expect(await evaluateHealth(db)).toBe(1);
    expect(await stateOf(node)).toBe("failed");
    await beat(db, node, { health: "ok" });
    await evaluateHealth(db);
    await db`update profile_health set well_since = now() - interval '2 minutes' where node_id = ${node}`;
    await db`update node_profiles set state_changed_at = now() - interval '2 minutes' where node_id = ${node}`;
    expect(await evaluateHealth(db)).toBe(1);
    expect(await stateOf(node)).toBe("active");
    expect(await events()).toMatchObject([{ reason: "PROGRAM_FAILED" }, { reason: "RECOVERED" }]);
  });

  test("ROLL-15: a crash loop outside an upgrade degrades the node, a critical probe only when it lasts", async () => {
    const looping = await insertNode(db, "looping");
    const critical = await insertNode(db, "critical");
    await beat(db, looping, { restarts: LIMITS.crashLoopRestarts });
    await beat(db, critical, { health: "critical" });
    expect(await evaluateHealth(db)).toBe(1);
    expect([await stateOf(looping), await stateOf(critical)]).toEqual(["degraded", "active"]);
    await db`update profile_health set ill_since = now() - interval '61 seconds' where node_id = ${critical}`;
    expect(await evaluateHealth(db)).toBe(1);
    expect(await stateOf(critical)).toBe("degraded");
    expect((await events()).map((event) => event.node_id)).toEqual([looping, critical]);
  });

  test("ROLL-15: a control plane that was away does not take its own silence for the fleet's", async () => {
    const node = await insertNode(db, "n1");
    await beat(db, node, { agoMs: 3_600_000 });
    await db`update health_watch set last_look_at = now() - interval '1 hour'`;
    expect(await evaluateHealth(db)).toBe(0);
    expect(await stateOf(node)).toBe("active");
    await db`update health_watch set hearing_since = now() - make_interval(secs => ${LIMITS.heartbeatLostMs / 1000 + 1})`;
    expect(await evaluateHealth(db)).toBe(1);
    expect(await stateOf(node)).toBe("down");
  });

  test("ROLL-16: a node with an unresolved critical incident does not become active by itself", async () => {
    const node = await insertNode(db, "n1", { program: "degraded" });
    await beat(db, node);
    await db`
      insert into profile_health (node_id, chain_profile_id, well_since) values (${node}, 'web', now() - interval '1 hour')`;
    await db`
      insert into incidents (id, category, severity, node_id, title)
      values (gen_random_uuid(), 'upgrade_failed', 'critical', ${node}, 'left half way')`;
    expect(await evaluateHealth(db)).toBe(0);
    await db`update incidents set status = 'resolved'`;
    expect(await evaluateHealth(db)).toBe(1);
    expect(await stateOf(node)).toBe("active");
  });

  test("one replica looks at a time, and a row that a rollout holds is left for the next look", async () => {
    const node = await insertNode(db, "n1");
    await beat(db, node, { agoMs: 3_600_000 });
    await db.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${LOCKS.health}), pg_advisory_xact_lock(${LOCKS.maintenance})`;
      expect(await evaluateHealth(db)).toBeNull();
      expect(await freeStuckNodes(db, 0)).toBeNull();
    });
    await db.begin(async (tx) => {
      await tx`update nodes set command_sequence = command_sequence + 1 where id = ${node}`;
      expect(await evaluateHealth(db)).toBe(0);
    });
    expect(await evaluateHealth(db)).toBe(1);
  });

  test("a fleet that is well is looked at without writing anything about it", async () => {
    for (let i = 0; i < 20; i++) await beat(db, await insertNode(db, `n${i}`));
    expect(await evaluateHealth(db)).toBe(0);
    expect(await db`select * from node_health`).toHaveLength(0);
    expect(await db`select * from profile_health`).toHaveLength(0);
  });
});

describe("several programs on one node (ROLL-28)", () => {
  const twoPrograms = async (name: string, states: { web?: ProfileState; api?: ProfileState } = {}) => {
    const node = await insertNode(db, name, { program: states.web ?? "active" });
    await insertProfile(db, node, "api", states.api ?? "active");
    return node;
  };

  test("ROLL-28: one program in a crash loop is degraded, and its neighbour on the node stays active", async () => {
    const node = await twoPrograms("n1");
    await beat(db, node, { restarts: LIMITS.crashLoopRestarts, beside: ["api"] });
    expect(await evaluateHealth(db)).toBe(1);
    expect([await programState(node), await programState(node, "api")]).toEqual(["degraded", "active"]);
    expect(await events()).toEqual([
      { node_id: node, chain_profile_id: "web", from: "active", to: "degraded", reason: "CRASH_LOOP" },
    ]);
  });

  test("ROLL-28: silence is the node's alone, and changes the state of no program", async () => {
    const node = await twoPrograms("n1");
    await beat(db, node, { agoMs: LIMITS.heartbeatLostMs + 1_000, health: "critical", beside: ["api"] });
    expect(await evaluateHealth(db)).toBe(1);
    expect([await programState(node), await programState(node, "api")]).toEqual(["active", "active"]);
    expect(await stateOf(node)).toBe("down");
  });

  test("ROLL-28: a program in maintenance is not judged, its neighbour is, and the node's silence is not", async () => {
    const node = await twoPrograms("n1", { api: "maintenance" });
    await beat(db, node, { restarts: LIMITS.crashLoopRestarts, beside: ["api"] });
    expect(await evaluateHealth(db)).toBe(1);
    expect([await programState(node), await programState(node, "api")]).toEqual(["degraded", "maintenance"]);
    await beat(db, node, { agoMs: LIMITS.heartbeatLostMs + 1_000, beside: ["api"] });
    expect(await evaluateHealth(db)).toBe(0);
    expect(await db`select 1 from nodes where id = ${node} and state = 'active'`).toHaveLength(1);
  });

  test("ROLL-28: the state shown for a node is the worst of its own and its programs'", async () => {
    const cases: [Presence, ProfileState, ProfileState, string][] = [
      ["active", "active", "active", "active"],
      ["active", "active", "maintenance", "maintenance"],
      ["active", "maintenance", "degraded", "degraded"],
      ["degraded", "active", "active", "degraded"],
      ["degraded", "maintenance", "active", "degraded"],
      ["active", "degraded", "failed", "failed"],
      ["degraded", "failed", "active", "failed"],
      ["down", "failed", "maintenance", "down"],
    ];
    for (const [at, [state, web, api, shown]] of cases.entries()) {
      const node = await twoPrograms(`n${at}`, { web, api });
      await db`update nodes set state = ${state} where id = ${node}`;
      expect([state, web, api, await stateOf(node)]).toEqual([state, web, api, shown]);
    }
  });

  test("ROLL-28: an incident of one program's rollout does not keep its neighbour from recovering", async () => {
    const node = await twoPrograms("n1", { web: "degraded", api: "degraded" });
    await beat(db, node, { beside: ["api"] });
    await db`
      insert into profile_health (node_id, chain_profile_id, well_since)
      select node_id, chain_profile_id, now() - interval '1 hour' from node_profiles`;
    await db`
      insert into incidents (id, category, severity, node_id, rollout_id, title)
      values (gen_random_uuid(), 'upgrade_failed', 'critical', ${node}, ${await insertRollout(db, { profile: "web" })}, 'left half way')`;
    expect(await evaluateHealth(db)).toBe(1);
    expect([await programState(node), await programState(node, "api")]).toEqual(["degraded", "active"]);
  });

  test("ROLL-28: a program stuck in maintenance is freed while a rollout works on its neighbour", async () => {
    const node = await twoPrograms("n1", { web: "maintenance", api: "maintenance" });
    await beat(db, node, { beside: ["api"] });
    await insertRolloutNode(db, await insertRollout(db, { profile: "web" }), node);
    expect(await freeStuckNodes(db, LIMITS.maintenanceLimitMs)).toBe(1);
    expect([await programState(node), await programState(node, "api")]).toEqual(["maintenance", "active"]);
  });
});

const LOOPS = { maintenanceLimitMs: LIMITS.maintenanceLimitMs, log: silentLogger };

test("ROLL-30: a silent node is given up by the loop once the clocks agree, and not while they disagree", async () => {
  const silent = await insertNode(db, "silent", { program: "maintenance" });
  await beat(db, silent, { agoMs: 3_600_000 });
  await insertRolloutNode(db, await insertRollout(db, { profile: "web" }), silent);
  await db`update rollout_nodes set launched_at = now() - interval '1 hour', command_id = gen_random_uuid()`;
  await db`update health_watch set last_look_at = now(), hearing_since = now() - interval '1 day'`;
  const signals = async () => (await db`select kind from rollout_signals`).map(({ kind }) => kind as string);
  let looks = 0;
  const closed = startHealthLoops({ ...LOOPS, db, mayStep: () => (looks++, false) });
  await until("asked", async () => looks > 0);
  await closed.stop();
  expect(await signals()).toEqual([]);
  const open = startHealthLoops({ ...LOOPS, db, mayStep: () => true });
  await until("given up", async () => (await signals()).length > 0);
  await open.stop();
  expect(await signals()).toEqual(["give_up"]);
});

test("ROLL-15: the loops of a server do both by themselves, and end when they are told", async () => {
  const node = await insertNode(db, "stuck", { program: "maintenance" });
  const looping = await insertNode(db, "looping");
  await beat(db, node);
  await beat(db, looping, { restarts: LIMITS.crashLoopRestarts });
  const loops = startHealthLoops({ ...LOOPS, db, mayStep: () => true });
  await until("freed", async () => (await stateOf(node)) === "active");
  await until("judged", async () => (await stateOf(looping)) === "degraded");
  await loops.stop();
  expect((await events()).map(({ node_id }) => node_id).toSorted()).toEqual([node, looping].toSorted());
});

describe("nodes stuck in maintenance (ROLL-15)", () => {
  const LIMIT = LIMITS.maintenanceLimitMs;

  test("ROLL-15: a stuck node is freed by its health, with an event; one of an active rollout is left alone", async () => {
    const healthy = await insertNode(db, "healthy", { program: "maintenance" });
    const silent = await insertNode(db, "silent", { program: "maintenance" });
    const atWork = await insertNode(db, "at work", { program: "maintenance" });
    const leftBehind = await insertNode(db, "left behind", { program: "maintenance" });
    for (const node of [healthy, atWork, leftBehind]) await beat(db, node);
    await beat(db, silent, { agoMs: 3_600_000 });
    await insertRolloutNode(db, await insertRollout(db, { profile: "web" }), atWork);
    await insertRolloutNode(db, await insertRollout(db, { profile: "web", status: "cancelled" }), leftBehind);
    expect(await freeStuckNodes(db, LIMIT)).toBe(3);
    const states = await Promise.all([healthy, silent, atWork, leftBehind].map(stateOf));
    expect(states).toEqual(["active", "degraded", "maintenance", "active"]);
    expect(await events()).toContainEqual({
      node_id: silent,
      chain_profile_id: "web",
      from: "maintenance",
      to: "degraded",
      reason: "MAINTENANCE_OVER",
    });
    expect(await freeStuckNodes(db, LIMIT)).toBe(0);
  });

  test("ROLL-15: a node that went into maintenance within the limit is left there", async () => {
    const node = await insertNode(db, "n1");
    await beat(db, node);
    await db`update node_profiles set state = 'maintenance' where node_id = ${node}`;
    expect(await freeStuckNodes(db, LIMIT)).toBe(0);
    expect(await freeStuckNodes(db, LIMIT, later(LIMIT - 5_000))).toBe(0);
    expect(await freeStuckNodes(db, LIMIT, later(LIMIT + 1_000))).toBe(1);
  });
});
