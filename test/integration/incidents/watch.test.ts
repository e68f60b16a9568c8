// Incidents outside upgrades on the real database: from rows that tell of trouble to incidents, webhooks, and their end.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { LOCKS } from "../../../src/server/db/locks.ts";
import { evaluateHealth } from "../../../src/server/health/evaluate.ts";
import { watchEndings, watchNodes, watchOwn } from "../../../src/server/incidents/watch.ts";
import { readNotifications, WEBHOOK_READER } from "../../../src/server/notify/notifier.ts";
import { registerReader } from "../../../src/server/notify/event-reader.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { beat, insertNode } from "../../support/server/health-rows.ts";

const QUIET = LIMITS.incidentQuietMs;
const DAY_MS = 24 * 3_600_000;
let databases: TestDatabases;
let db: Database;

beforeAll(async () => {
  databases = await startTestDatabases();
});
beforeEach(async () => {
  ({ db } = await databases.fresh());
  await db`insert into health_watch (last_look_at, hearing_since) values (now(), now() - interval '1 day')`;
});
afterAll(() => databases.stop());

interface Row {
  readonly id: string;
  readonly category: string;
  readonly severity: string;
  readonly status: string;
  readonly node_id: NodeId | null;
  readonly title: string;
  readonly resolved_by: string | null;
}
const incidents = () => db<Row[]>`select * from incidents order by opened_at, title`;
const kinds = async () =>
  (await db<{ kind: string }[]>`select kind from events where kind like 'incident.%' order by id`).map(
    ({ kind }) => kind,
  );
const later = (ms: number) => Date.now() + ms;
const reject = (id: NodeId, code: string, at = new Date().toISOString()) => db`
  update node_heartbeats set last_rejection =
    ${db.json({ code, subject: "snapshot route_policy", reason: "refused", at, scope: "route_policy" })}
  where node_id = ${id}`;

describe("a node that is down", () => {
  test("ROLL-19: opens one critical incident with what to do, and a heartbeat resolves it after the quiet time", async () => {
    const node = await insertNode(db, "edge-1");
    await beat(db, node, { agoMs: LIMITS.heartbeatLostMs + 1_000 });
    expect(await watchNodes(db)).toEqual({ opened: 0, resolved: 0 });
    await evaluateHealth(db);
    expect(await watchNodes(db)).toEqual({ opened: 1, resolved: 0 });
    expect(await watchNodes(db)).toEqual({ opened: 0, resolved: 0 });
    expect(await incidents()).toMatchObject([
      { category: "node_down", severity: "critical", status: "open", node_id: node },
    ]);
    const [{ title }] = (await incidents()) as unknown as [Row];
    await beat(db, node);
    expect(await watchNodes(db)).toEqual({ opened: 0, resolved: 0 });
    // The title tells of the silence, not of the heartbeat that ended it.
    expect(await incidents()).toMatchObject([{ title, status: "open" }]);
    await evaluateHealth(db);
    expect(await watchNodes(db, later(QUIET))).toEqual({ opened: 0, resolved: 1 });
    expect(await incidents()).toMatchObject([{ status: "resolved", resolved_by: "fairlead" }]);
    expect(await kinds()).toEqual(["incident.opened", "incident.resolved"]);
  });

  test("ROLL-15: an open incident about its silence does not keep a node from becoming active again", async () => {
    const node = await insertNode(db, "edge-1", { state: "down" });
    await beat(db, node, { agoMs: 3_600_000 });
    await watchNodes(db);
    await beat(db, node);
    await evaluateHealth(db);
    await evaluateHealth(db);
    await db`update node_heartbeats set received_at = now() + interval '62 seconds'`;
    await db`update health_watch set last_look_at = now() + interval '61 seconds'`;
    await evaluateHealth(db, later(LIMITS.recoveryMs + 2_000));
    const [row] = await db<{ state: string }[]>`select state from nodes where id = ${node}`;
    expect(row!.state).toBe("active");
  });

  test("ROLL-19: a revoked node and one that never enrolled open none", async () => {
    await insertNode(db, "revoked", { state: "down", revoked: true });
    await insertNode(db, "awaited", { state: "down", enrolled: false });
    expect(await watchNodes(db)).toEqual({ opened: 0, resolved: 0 });
  });

  test("ROLL-19: a thousand nodes that go down at once are one incident and one message per webhook", async () => {
    await registerReader(db, WEBHOOK_READER);
    await db`
      insert into webhooks (id, name, url, sealed_secret, events, created_by)
      values (${randomUUID()}, 'on-call', 'https://hooks.test', '', '{incident_opened,incident_resolved}', 'key:boss')`;
    await db`
      insert into nodes (id, name, node_type, roles, state, enrolled_at)
      select gen_random_uuid(), 'edge-' || n, 'edge', '{egress_service}', 'active', now() - interval '1 day'
      from generate_series(1, 1000) n`;
    await db`
      insert into node_heartbeats (node_id, received_at, agent_version, applied, programs)
      select id, now() - interval '10 minutes', '1', '{}', '[]' from nodes`;
    expect(await evaluateHealth(db)).toBe(1_000);
    expect(await watchNodes(db)).toEqual({ opened: 1, resolved: 0 });
    while ((await readNotifications(db)) !== 0);
    const told = await db<{ kind: string; title: string }[]>`
      select kind, body->'data'->'incident'->>'title' as title from webhook_deliveries`;
    expect([...told]).toEqual([{ kind: "incident_opened", title: "1000 nodes are down" }]);
    await db`update nodes set state = 'active'`;
    expect(await watchNodes(db, later(QUIET))).toEqual({ opened: 0, resolved: 1 });
  });

  test("ROLL-19: of two replicas one looks, and a person's resolve is not undone while the node stays down", async () => {
    await insertNode(db, "edge-1", { state: "down" });
    await db.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${LOCKS.incidents})`;
      expect(await watchNodes(db)).toBeNull();
    });
    await watchNodes(db);
    await db`update incidents set status = 'resolved', resolved_by = 'key:boss', resolved_at = now()`;
    expect(await watchNodes(db)).toEqual({ opened: 0, resolved: 0 });
    expect(await watchNodes(db, later(QUIET - 60_000))).toEqual({ opened: 0, resolved: 0 });
    expect(await watchNodes(db, later(2 * QUIET - 120_000))).toEqual({ opened: 0, resolved: 0 });
    expect(await incidents()).toMatchObject([{ status: "resolved", resolved_by: "key:boss" }]);
  });
});

test("ROLL-19: a crash loop outside an upgrade is an incident; the same restarts in maintenance are none", async () => {
  const node = await insertNode(db, "looping");
  await beat(db, node);
  await evaluateHealth(db);
  await beat(db, node, { restarts: LIMITS.crashLoopRestarts });
  await evaluateHealth(db);
  expect(await watchNodes(db)).toEqual({ opened: 1, resolved: 0 });
  expect(await incidents()).toMatchObject([
    {
      category: "crash_loop",
      severity: "critical",
      title: "looping: web restarted 3 times within 10 min",
    },
  ]);
  await db`delete from incidents`;
  await db`update node_profiles set state = 'maintenance'`;
  expect(await watchNodes(db)).toEqual({ opened: 0, resolved: 0 });
});

test("ROLL-19: the incident of a crash loop stays open when the program becomes failed while it goes on restarting", async () => {
  const node = await insertNode(db, "looping");
  await beat(db, node);
  await evaluateHealth(db);
  await beat(db, node, { restarts: LIMITS.crashLoopRestarts, health: "critical" });
  await evaluateHealth(db);
  expect(await watchNodes(db)).toEqual({ opened: 1, resolved: 0 });
  await db`update profile_health set ill_since = now() - interval '1 hour'`;
  await db`update node_profiles set state_changed_at = now() - interval '1 hour'`;
  await evaluateHealth(db);
  expect(await db`select state from node_profiles`).toMatchObject([{ state: "failed" }]);
  await db`update incidents set last_seen_at = now() - interval '1 day'`;
  expect(await watchNodes(db)).toEqual({ opened: 0, resolved: 0 });
  expect(await incidents()).toMatchObject([{ category: "crash_loop", status: "open" }]);
});

describe("a node that refuses a snapshot", () => {
  test.each([
    ["SNAPSHOT_SIGNATURE_INVALID", "critical"],
    ["SNAPSHOT_HASH_MISMATCH", "critical"],
    ["SNAPSHOT_ROLLBACK", "critical"],
    ["HEAD_ROLLBACK", "critical"],
    ["SNAPSHOT_CONTENT_INVALID", "warning"],
  ])("ROLL-19: %s is a %s incident, whatever the node's clock says", async (code, severity) => {
    const node = await insertNode(db, "edge-1");
    await beat(db, node);
    await reject(node, code, "1970-01-01T00:00:00.000Z");
    expect(await watchNodes(db)).toEqual({ opened: 1, resolved: 0 });
    expect(await incidents()).toMatchObject([
      { category: "snapshot_rejected", severity, title: `edge-1 refuses snapshot route_policy: ${code}` },
    ]);
  });

  test("ROLL-19: the incident stays while the node goes on refusing, and resolves when it has stopped", async () => {
    const node = await insertNode(db, "edge-1");
    await beat(db, node);
    await reject(node, "SNAPSHOT_SIGNATURE_INVALID", "2026-01-01T00:00:00.000Z");
    await watchNodes(db);
    await db`update incidents set last_seen_at = now() - interval '1 hour'`;
    await reject(node, "SNAPSHOT_SIGNATURE_INVALID", "2026-01-01T00:00:25.000Z");
    expect(await watchNodes(db)).toEqual({ opened: 0, resolved: 0 });
    // Heartbeats that say the same again are no new refusal.
    await beat(db, node);
    expect(await watchNodes(db, later(2 * QUIET))).toEqual({ opened: 0, resolved: 1 });
  });

  test("ROLL-19: a refused command and an increment that the node asks for again are no incident", async () => {
    const node = await insertNode(db, "edge-1");
    await beat(db, node);
    for (const code of ["COMMAND_REPLAYED", "INCREMENT_BASE_MISMATCH"]) {
      await reject(node, code);
      expect(await watchNodes(db)).toEqual({ opened: 0, resolved: 0 });
    }
  });
});

describe("certificates and keys near their end", () => {
  const certificateOf = (node: NodeId, inMs: number) => db`
    insert into node_certificates (serial, node_id, key_hash, chain_pem, not_after)
    values (${randomUUID()}, ${node}, 'x', 'x', ${new Date(later(inMs))})`;

  test("ROLL-19: a node certificate is a warning near its end, critical past it, and neither once it is renewed", async () => {
    const node = await insertNode(db, "edge-1");
    await certificateOf(node, LIMITS.nodeCertificateEndingMs + DAY_MS);
    expect(await watchEndings(db, [])).toEqual({ opened: 0, resolved: 0 });
    expect(await watchEndings(db, [], later(2 * DAY_MS))).toEqual({ opened: 1, resolved: 0 });
    expect(await watchEndings(db, [], later(2 * DAY_MS))).toEqual({ opened: 0, resolved: 0 });
    expect(await watchEndings(db, [], later(7 * DAY_MS))).toEqual({ opened: 1, resolved: 1 });
    expect((await incidents()).map(({ severity, status }) => [severity, status])).toEqual([
      ["warning", "resolved"],
      ["critical", "open"],
    ]);
    await certificateOf(node, 37 * DAY_MS);
    expect(await watchEndings(db, [], later(8 * DAY_MS))).toEqual({ opened: 0, resolved: 1 });
  });

  test("ROLL-19: a signing key near its end is an incident; a retired one is none", async () => {
    const insert = (name: string, state: string) => db`
      insert into signing_keys (key_id, authority, name, algorithm, public_key, state, changed_by, valid_from, valid_until)
      values (${name.padEnd(64, "0")}, 'release', ${name}, 'Ed25519', 'x', ${state}, 'key:boss', now(),
        now() + interval '29 days')`;
    await insert("aaaa", "active");
    await insert("bbbb", "retired");
    expect(await watchEndings(db, [])).toEqual({ opened: 1, resolved: 0 });
    expect((await incidents())[0]).toMatchObject({ category: "key_expiring", severity: "warning" });
    expect((await incidents())[0]!.title).toMatch(/^the release key aaaa \(aaaa00000000\) ends /);
  });

  test("ROLL-19: a server's own certificate is told by that server, and another replica does not resolve it", async () => {
    const mine = [{ name: "the certificate /tls.pem of server one", endsAt: later(DAY_MS) }];
    const other = [{ name: "the certificate /tls.pem of server two", endsAt: later(90 * DAY_MS) }];
    const site = [{ name: "the site authority's certificate for agents", endsAt: later(DAY_MS) }];
    expect(await watchOwn(db, mine)).toEqual({ opened: 1, resolved: 0 });
    expect(await watchOwn(db, other, later(2 * QUIET))).toEqual({ opened: 0, resolved: 0 });
    expect(await watchEndings(db, site, later(2 * QUIET))).toEqual({ opened: 1, resolved: 0 });
    expect(await watchOwn(db, [{ ...mine[0]!, endsAt: later(90 * DAY_MS) }], later(2 * QUIET))).toEqual({
      opened: 0,
      resolved: 1,
    });
  });
});
