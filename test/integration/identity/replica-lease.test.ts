// A replica's lease and the order of a revocation, on the real database with its statements watched (SNAP-10).

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { systemClock, type Clock } from "../../../src/host/clock.ts";
import { silentLogger, type Logger } from "../../../src/host/log.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { LOCKS } from "../../../src/server/db/locks.ts";
import { createCertificateRegistry } from "../../../src/server/identity/certificate-registry.ts";
import { startReplicaLease, type ReplicaLease } from "../../../src/server/identity/replica-lease.ts";
import { revokeNode } from "../../../src/server/identity/revocation.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import {
  enrolledNode,
  initializeSite,
  makeSite,
  type EnrolledNode,
  type Site,
} from "../../support/server/site.ts";

let databases: TestDatabases;
let db: Database;
let site: Site;
let node: EnrolledNode;
let lease: ReplicaLease | undefined;
/** The replica's clocks run ahead by so much. */
let ahead = { monotonic: 0, wall: 0 };
const clock: Clock = {
  now: () => systemClock.now() + ahead.wall,
  monotonic: () => systemClock.monotonic() + ahead.monotonic,
};

beforeAll(async () => void (databases = await startTestDatabases()));
afterAll(() => databases.stop());
beforeEach(async () => {
  ahead = { monotonic: 0, wall: 0 };
  db = (await databases.fresh()).db;
  site = await makeSite(db);
  await initializeSite(db, site);
  node = await enrolledNode(db, site, "alpha");
});
afterEach(async () => {
  await lease?.close();
  lease = undefined;
  await site.remove();
});

type Watch = (statement: string, values: readonly unknown[], run: () => Promise<unknown>) => Promise<unknown>;

/** The same database; each statement goes through `watch`. */
const watched = (watch: Watch): Database =>
  new Proxy(db, {
    apply(target, self, args: [TemplateStringsArray, ...unknown[]]) {
      const run = () => Reflect.apply(target, self, args) as Promise<unknown>;
      return Array.isArray(args[0]) ? watch(args[0].join("?"), args.slice(1), run) : run();
    },
  });

const started = async (through: Database, log: Logger = silentLogger): Promise<ReplicaLease> =>
  (lease = await startReplicaLease({
    db: through,
    clock,
    log,
    registry: createCertificateRegistry(through),
  }));

const LEASE_WRITE = "insert into replicas";
const REVOCATIONS_READ = "from revocations where seq >";

test("a lease that was renewed without reading the revocations since does not count", async () => {
  let isCut = false;
  const held = await started(
    watched((statement, _, run) =>
      isCut && statement.includes(REVOCATIONS_READ) ? Promise.reject(new Error("cut")) : run(),
    ),
  );
  expect(held.isHeld()).toBe(true);
  isCut = true;
  const leaseUntil = async () =>
    (await db<{ lease_until: Date }[]>`select lease_until from replicas where id = ${held.id}`)[0]!
      .lease_until;
  ahead = { monotonic: LIMITS.replicaLeaseMs, wall: 0 };
  const before = await leaseUntil();
  // The row is renewed; the reading after it fails.
  await expect.poll(async () => (await leaseUntil()) > before, { timeout: 5_000 }).toBe(true);
  expect(held.isHeld()).toBe(false);
  isCut = false;
  await expect.poll(() => held.isHeld(), { timeout: 5_000 }).toBe(true);
});

test("a revocation is acknowledged after the node's sockets are closed, never before", async () => {
  const order: string[] = [];
  const held = await started(
    watched((statement, values, run) => {
      if (statement.includes(LEASE_WRITE)) order.push(`lease ${String(values.at(-1))}`);
      return run();
    }),
  );
  held.onRevoked(() => order.push("closed"));
  await revokeNode(db, node.nodeId, "boss", null);
  const [row] = await db<{ seq: number }[]>`select max(seq) as seq from revocations`;
  const acknowledged = order.indexOf(`lease ${row!.seq}`);
  expect(order.indexOf("closed")).toBeGreaterThan(-1);
  expect(acknowledged).toBeGreaterThan(order.indexOf("closed"));
});

test("a lease is counted from before its renewal was sent, however long the database took", async () => {
  let phase: "usual" | "slow" | "answered" | "cut" = "usual";
  const held = await started(
    watched(async (statement, _, run) => {
      if (phase === "cut") throw new Error("cut");
      if (phase === "slow" && statement.includes(LEASE_WRITE)) {
        ahead = { monotonic: LIMITS.replicaLeaseMs - 500, wall: 0 }; // it answers almost a lease later
        phase = "answered";
      }
      const answer = await run();
      if (phase === "answered" && statement.includes(REVOCATIONS_READ)) phase = "cut"; // none after this one
      return answer;
    }),
  );
  phase = "slow";
  await expect.poll(() => phase, { timeout: 5_000 }).toBe("cut");
  // Six tenths of a second after that answer a lease counted from the answer would still hold.
  ahead = { ...ahead, monotonic: ahead.monotonic + 600 };
  expect(held.isHeld()).toBe(false);
});

test.each(["monotonic", "wall"] as const)(
  "a replica whose %s clock passed its lease holds it no more",
  async (which) => {
    const held = await started(db);
    expect(held.isHeld()).toBe(true);
    ahead = { ...ahead, [which]: LIMITS.replicaLeaseMs };
    expect(held.isHeld()).toBe(false);
  },
);

test("an answer about a certificate that was read before a revocation is not kept after it", async () => {
  let release: (() => void) | undefined;
  let held: Promise<void> | null = new Promise((resolve) => (release = resolve));
  let asked = 0;
  const registry = createCertificateRegistry(
    watched(async (statement, _, run) => {
      const answer = await run();
      if (statement.includes("node_certificates")) asked += 1;
      if (held !== null) await held;
      return answer;
    }),
  );
  const [row] = await db<{ serial: string }[]>`
    select serial from node_certificates where node_id = ${node.nodeId}`;
  const looking = registry.look(row!.serial);
  await expect.poll(() => asked).toBe(1); // it has read that the certificate is good
  await revokeNode(db, node.nodeId, "boss", null);
  registry.forget(node.nodeId);
  held = null;
  release!();
  expect(await looking).toEqual({ kind: "revoked", nodeId: node.nodeId });
  expect(registry.known(row!.serial)).toEqual({ kind: "revoked", nodeId: node.nodeId });
});

test("revocations are numbered one after the other: a second one waits until the first is committed", async () => {
  let revoking: Promise<void> | undefined;
  await db.begin(async (first) => {
    await first`select pg_advisory_xact_lock(${LOCKS.revocations})`;
    revoking = revokeNode(db, node.nodeId, "boss", null);
    await expect
      .poll(() => db`select 1 from pg_locks where locktype = 'advisory' and not granted`, { timeout: 5_000 })
      .toHaveLength(1);
    expect(await db`select 1 from revocations`).toHaveLength(0);
  });
  await revoking;
  expect(await db`select 1 from revocations`).toHaveLength(1);
});
