// The clocks of a control plane on a real database: when signing stops, who is told, and how it goes on (SNAP-17).

import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { confirmTime } from "../../../src/server/clock/confirm.ts";
import { createClockGate } from "../../../src/server/clock/gate.ts";
import { startClockWatch, type ClockWatch } from "../../../src/server/clock/watch.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { beat, insertNode } from "../../support/server/health-rows.ts";
import { movableClock } from "../../support/server/movable-clock.ts";
import { createFleet } from "../snapshots/fleet.ts";
import { createReader } from "../snapshots/reader.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let databases: TestDatabases;
let db: Database;
const started: ClockWatch[] = [];

beforeAll(async () => void (databases = await startTestDatabases()));
afterAll(async () => databases.stop());
beforeEach(async () => void ({ db } = await databases.fresh()));
afterEach(async () => {
  for (const watch of started.splice(0)) await watch.stop();
});

/** A replica with clocks of its own, its lease held, `aheadMs` ahead of the database from the start. */
async function startReplica({ aheadMs = 0 } = {}) {
  const replicaId = randomUUID();
  await db`
    insert into replicas (id, lease_until, revocation_seq) values (${replicaId}, now() + interval '1 hour', 0)`;
  const clock = movableClock(Date.now() + aheadMs);
  const gate = createClockGate(clock);
  const watch = await startClockWatch({ db, gate, log: silentLogger, replicaId, clock });
  started.push(watch);
  return { replicaId, clock, gate, watch };
}

const incidents = () => db<{ status: string; severity: string; resolved_by: string | null }[]>`
  select status, severity, resolved_by from incidents where category = 'clock_disagrees' order by opened_at`;
const kinds = async () =>
  (await db<{ kind: string }[]>`select kind from events order by id`).map(({ kind }) => kind);
const ids = (count: number): NodeId[] => Array.from({ length: count }, () => randomUUID() as NodeId);

test("SNAP-17: a wall clock that jumps stops signing with one incident, and setting it back resolves it by itself", async () => {
  const { clock, gate, watch } = await startReplica();
  expect([watch.problem(), gate.isOpen(), await incidents()]).toEqual([null, true, []]);
  clock.jump(12 * HOUR_MS);
  expect(watch.problem()).not.toBeNull(); // before the next look
  await watch.look();
  await watch.look();
  expect(watch.problem()).toContain("43200 s ahead of the monotonic clock");
  expect(await incidents()).toEqual([{ status: "open", severity: "critical", resolved_by: null }]);
  clock.jump(-12 * HOUR_MS);
  await watch.look();
  expect([watch.problem(), gate.isOpen()]).toEqual([null, true]);
  expect(await incidents()).toEqual([{ status: "resolved", severity: "critical", resolved_by: "fairlead" }]);
  expect(await kinds()).toEqual(["incident.opened", "incident.resolved"]);
});

test("SNAP-17: a replica whose clock differs from the database's stops, and the others go on", async () => {
  const ill = await startReplica({ aheadMs: 2 * HOUR_MS });
  const well = await startReplica();
  await ill.watch.look();
  await well.watch.look();
  expect(ill.watch.problem()).toContain("7200 s ahead of the database's clock");
  expect([well.watch.problem(), well.gate.isOpen()]).toEqual([null, true]);
  expect(await incidents()).toMatchObject([{ status: "open" }]); // the replica that is well does not resolve it
  await ill.watch.stop();
  await db`delete from replicas where id = ${ill.replicaId}`;
  well.clock.pass(60_000);
  well.clock.jump(-60_000); // time passed here, not in the database
  await well.watch.look();
  expect(await incidents()).toMatchObject([{ status: "resolved" }]);
});

test("SNAP-17: two replicas that each agree with the database and not with each other both stop", async () => {
  const ahead = await startReplica({ aheadMs: 45_000 });
  const behind = await startReplica({ aheadMs: -45_000 });
  await ahead.watch.look();
  await behind.watch.look();
  expect(behind.watch.problem()).toContain("behind most other replicas");
  const [row] = await db<{ problem: string | null }[]>`
    select clock_problem as problem from replicas where id = ${behind.replicaId}`;
  expect(row!.problem).not.toBeNull();
});

test("SNAP-17: after a start, most of three nodes that show another time stop signing; fewer nodes, or fewer of them, do not", async () => {
  const { clock, watch, gate } = await startReplica();
  const [first, second, third, fourth] = ids(4);
  watch.hear(first!, clock.now() - HOUR_MS);
  watch.hear(first!, clock.now() - HOUR_MS); // one node, one vote
  watch.hear(second!, clock.now() - HOUR_MS);
  watch.hear(fourth!, 10_000); // 1970: knows no time
  await watch.look();
  expect(watch.problem()).toBeNull();
  watch.hear(third!, clock.now());
  await watch.look();
  expect(watch.problem()).toContain("3600 s ahead of the clocks of most nodes");
  expect(gate.isOpen()).toBe(false);
});

test("SNAP-17: once most nodes agreed after a start, clocks of nodes that go wrong later stop nothing", async () => {
  const { clock, watch } = await startReplica();
  const nodes = ids(3);
  for (const node of nodes) watch.hear(node, clock.now() + 1_000);
  await watch.look();
  for (const node of nodes) watch.hear(node, clock.now() + DAY_MS);
  await watch.look();
  expect(watch.problem()).toBeNull();
});

test("SNAP-17: a wall clock that was corrected is vouched for by most of three nodes, and not by two", async () => {
  const { clock, watch, gate } = await startReplica({ aheadMs: -40_000 });
  const nodes = ids(3);
  for (const node of nodes) watch.hear(node, clock.now());
  await watch.look();
  clock.jump(65_000); // from 40 s behind the database to 25 s ahead of it
  await watch.look();
  expect(watch.problem()).toContain("65 s ahead of the monotonic clock");
  for (const node of nodes.slice(1)) watch.hear(node, clock.now());
  await watch.look();
  expect(watch.problem()).not.toBeNull();
  watch.hear(nodes[0]!, clock.now() + 1_000);
  await watch.look();
  expect([watch.problem(), gate.isOpen(), gate.movedMs()]).toEqual([null, true, 0]);
});

test("SNAP-17: nodes that were heard before the wall clock jumped do not vouch for it afterwards", async () => {
  const { clock, watch } = await startReplica({ aheadMs: -40_000 });
  const [first, second, third] = ids(3);
  watch.hear(first!, clock.now());
  watch.hear(second!, clock.now());
  clock.jump(65_000);
  watch.hear(third!, clock.now() - 65_000);
  await watch.look();
  expect(watch.problem()).toContain("65 s ahead of the monotonic clock");
});

test("SNAP-17: after a jump that was set back, clocks of nodes that are wrong stop nothing once nodes have agreed", async () => {
  const { clock, watch } = await startReplica();
  const nodes = ids(3);
  for (const node of nodes) watch.hear(node, clock.now());
  await watch.look();
  clock.jump(HOUR_MS);
  for (const node of nodes) watch.hear(node, clock.now() + DAY_MS);
  await watch.look();
  clock.jump(-HOUR_MS);
  await watch.look();
  expect(watch.problem()).toBeNull();
});

const confirm = ({ watch, clock }: Awaited<ReturnType<typeof startReplica>>, time: number) =>
  confirmTime(
    { db, now: clock.now, watch },
    { time: new Date(time).toISOString(), reason: "checked" },
    "key:alice",
  );

test("SNAP-17: confirm-time lets signing go on after a jump, with who and why in an event, and only once for each word", async () => {
  const replica = await startReplica();
  const { clock, watch, gate } = replica;
  clock.jump(HOUR_MS);
  await watch.look();
  await expect(confirm(replica, clock.now() - HOUR_MS)).rejects.toMatchObject({ code: "CLOCK_DISAGREES" });
  expect(await confirm(replica, clock.now() + 1_000)).toMatchObject({ difference_ms: -1_000, problem: null });
  expect([watch.problem(), gate.isOpen()]).toEqual([null, true]); // the database differs by what was accepted
  const [event] = await db`select actor, data from events where kind = 'authority.time_confirmed'`;
  expect(event).toMatchObject({ actor: "key:alice", data: { reason: "checked" } });
  expect(await incidents()).toMatchObject([{ status: "resolved" }]);
  clock.jump(HOUR_MS);
  await watch.look();
  expect(watch.problem()).toContain("monotonic");
});

test("SNAP-17: a confirmation opens no replica whose clock shows another time, and what it accepted survives a restart", async () => {
  const right = await startReplica({ aheadMs: HOUR_MS }); // the database is an hour behind
  const wrong = await startReplica({ aheadMs: 3 * HOUR_MS });
  await confirm(right, right.clock.now());
  await wrong.watch.look();
  expect([right.watch.problem(), wrong.watch.problem()]).toEqual([null, expect.stringContaining("database")]);
  expect((await startReplica({ aheadMs: HOUR_MS })).watch.problem()).toBeNull();
  expect((await startReplica({ aheadMs: 0 })).watch.problem()).toContain("replicas");
});

test("SNAP-17: what a server signed 400 days ahead is signed again when it starts with the right clock, and a node takes it", async () => {
  const fleet = await createFleet(db);
  await fleet.believe();
  const id = await fleet.node(["core_mesh"]);
  await fleet.compileAll(() => Date.now() + 400 * DAY_MS);
  const reader = createReader(fleet, id);
  await expect(reader.catchUp()).rejects.toThrow();
  expect(await fleet.compileAll()).toEqual([]); // nothing is due for 400 days
  await startReplica();
  await fleet.compileAll();
  const late = createReader(fleet, id);
  await late.catchUp();
  expect(late.head()!.content.scopes.node_bootstrap).toMatchObject({ version: 2 });
});

test("SNAP-17: a revocation that was dated ahead makes no head due for that long", async () => {
  const fleet = await createFleet(db);
  await fleet.believe();
  const id = await fleet.node(["core_mesh"]);
  await fleet.compileAll();
  await db`
    insert into authority_revocations (kind, subject, actor, created_at)
    values ('peer', 'elsewhere', 'key:alice', now() + interval '400 days')`;
  await startReplica();
  const reader = createReader(fleet, id);
  await reader.catchUp(); // ends: after its head nothing more is due
  expect(reader.head()!.content.revoked).toEqual([{ kind: "peer", id: "elsewhere" }]);
});

test("SNAP-17: a node that fell silent while the clock was ahead is not heard until then", async () => {
  const node = await insertNode(db, "n1");
  await beat(db, node, { agoMs: -400 * DAY_MS });
  const { clock, watch } = await startReplica();
  const heard = async () =>
    (
      await db<
        { ahead: boolean }[]
      >`select received_at > now() + interval '1 minute' as ahead from node_heartbeats`
    )[0]!.ahead;
  expect(await heard()).toBe(false);
  await beat(db, node, { agoMs: -400 * DAY_MS });
  clock.jump(HOUR_MS);
  await watch.look();
  clock.jump(-HOUR_MS);
  await watch.look();
  expect(await heard()).toBe(false);
});

/** The site was left that long ago, by its clock, with so many nodes. */
async function leftAgo(days: number, nodes: number): Promise<NodeId[]> {
  const agoMs = days * DAY_MS;
  await db`insert into proven_time (at) values (now() - make_interval(secs => ${agoMs / 1000}))`;
  const made: NodeId[] = [];
  for (let at = 0; at < nodes; at++) {
    const id = await insertNode(db, `left-${at}`);
    await beat(db, id, { agoMs: agoMs + 60_000 });
    made.push(id);
  }
  return made;
}
const provenDaysAgo = async (): Promise<number> => {
  const [row] = await db<{ days: number }[]>`
    select round(extract(epoch from now() - at) / 86400)::int as days from proven_time`;
  return row!.days;
};

test("SNAP-17: a start 40 days after the time was proven signs nothing until nodes agree, however often it is repeated", async () => {
  const nodes = await leftAgo(40, 5);
  for (let start = 0; start < 2; start++) {
    const held = await startReplica();
    expect(held.watch.problem()).toContain("40 days after the time that was last proven");
    expect([held.gate.isOpen(), held.gate.agreedNow()]).toEqual([false, held.clock.now()]);
    await held.watch.stop();
    await db`delete from replicas where id = ${held.replicaId}`;
  }
  expect(await provenDaysAgo()).toBe(40);
  const { watch, gate, clock } = await startReplica();
  for (const node of nodes.slice(0, 2)) watch.hear(node, clock.now());
  await watch.look();
  expect(gate.isOpen()).toBe(false);
  watch.hear(nodes[2]!, clock.now() + 60_000);
  await watch.look();
  expect([watch.problem(), gate.isOpen(), await provenDaysAgo()]).toEqual([null, true, 0]);
  expect(await incidents()).toMatchObject([{ status: "resolved" }]);
});

test("SNAP-17: a site with one node comes up after a month when that node agrees", async () => {
  const [only] = await leftAgo(31, 1);
  const { watch, gate, clock } = await startReplica();
  expect(gate.isOpen()).toBe(false);
  watch.hear(only!, clock.now());
  await watch.look();
  expect(gate.isOpen()).toBe(true);
});

test("SNAP-17: a start after nine days, and one without a node that was heard before, wait for nobody", async () => {
  await leftAgo(9, 3);
  expect((await startReplica()).gate.isOpen()).toBe(true);
  expect(await provenDaysAgo()).toBe(0);
  await db`update proven_time set at = now() - interval '400 days'`;
  await db`update nodes set revoked_at = now()`;
  expect((await startReplica()).gate.isOpen()).toBe(true);
});

test("SNAP-17: an operator's word proves the time of a start, and another replica's agreement does", async () => {
  await leftAgo(40, 3);
  const [first, second] = [await startReplica(), await startReplica()];
  await second.watch.look();
  expect([first.gate.isOpen(), second.gate.isOpen()]).toEqual([false, false]);
  await confirm(first, first.clock.now());
  expect(first.watch.problem()).toBeNull();
  await second.watch.look();
  expect([first.gate.isOpen(), second.gate.isOpen()]).toEqual([true, true]);
});

test("SNAP-17: a time that was proven by a clock that was ahead is lowered with the clock", async () => {
  await db`insert into proven_time (at) values (now() + interval '400 days')`;
  await startReplica();
  expect(await provenDaysAgo()).toBe(0);
});
