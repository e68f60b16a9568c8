/** The database goes away under a transaction, or a server under its database (USE-5). */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NODE } from "../../../src/demo/command.ts";
import { run, spawnChild } from "../../../src/host/process.ts";
import { killProcess } from "../../../src/host/process-identity.ts";
import { endAbandoned } from "../../../src/server/db/abandoned.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";

let databases: TestDatabases;
beforeAll(async () => void (databases = await startTestDatabases()));
afterAll(async () => databases.stop());

/** In a process of its own: without the corrections it dies. */
async function loseTransaction(...args: string[]): Promise<{ code: number; out: string }> {
  const { socket } = await databases.empty();
  const script = fileURLToPath(new URL("../../support/replicas/lose-transaction.ts", import.meta.url));
  const ran = await run(NODE, [script, JSON.stringify(socket), ...args], { timeoutMs: 60_000 });
  if (ran.kind !== "exited") throw new Error(ran.kind);
  return { code: ran.code, out: ran.stdout.toString() };
}

test("USE-5: a transaction whose connection is cut fails like any other, and the pool goes on", async () => {
  expect(await loseTransaction("corrected")).toEqual({ code: 0, out: "failed, and goes on\n" });
});

test("USE-5: the driver as it is published dies of it; when it no longer does, the corrections can go", async () => {
  expect((await loseTransaction("published")).code).not.toBe(0);
});

test("USE-5: a transaction whose server hangs between the halves of a statement is ended, and its lock is free", async () => {
  const { db, socket } = await databases.empty();
  await db`create table held (id int)`;
  await db`insert into held values (1)`;
  const script = fileURLToPath(new URL("../../support/replicas/hang-in-statement.ts", import.meta.url));
  const { child, identity } = await spawnChild(NODE, [script, JSON.stringify(socket)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(child.stdout!, "data");
    // To PostgreSQL it is busy: its own bound for transactions that idle does not see it.
    await expect.poll(() => abandoned(db)).toEqual([{ state: "active", wait_event: "ClientRead" }]);
    await expect(db`select id from held for update nowait`).rejects.toThrow("could not obtain lock");
    expect(await endAbandoned(db, 0)).toBe(1);
    await expect.poll(async () => (await db`select id from held for update`).length).toBe(1);
  } finally {
    killProcess(identity, "SIGKILL");
  }
});

const abandoned = async (db: Database) => [
  ...(await db`select state, wait_event from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`),
];

test("USE-5: a transaction that is being worked on is not ended", async () => {
  const { db, socket } = await databases.empty();
  const other = databases.open(socket);
  const answer = await db.begin(async (tx) => {
    await tx`select 1`;
    expect(await endAbandoned(other, 60_000)).toBe(0);
    return tx`select 2 as n`;
  });
  expect(answer[0]).toEqual({ n: 2 });
});
