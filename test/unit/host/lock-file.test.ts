import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acquireLock } from "../../../src/host/lock-file.ts";
import { identityOf } from "../../../src/host/process-identity.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const stale = { holder: { pid: process.pid, startTime: "another boot:1" } };

test("a lock is held by one, and free again after its release", async () => {
  const folder = await temporaryFolder();
  const first = await acquireLock(folder, "server");
  expect(first.kind).toBe("acquired");
  expect(await acquireLock(folder, "server")).toEqual({ kind: "held", by: identityOf(process.pid) });
  expect((await acquireLock(folder, "other")).kind).toBe("acquired");
  if (first.kind === "acquired") await first.release();
  expect((await acquireLock(folder, "server")).kind).toBe("acquired");
});

test("the lock of a process that died is taken over, although its pid is in use again", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "server.lock.7"), JSON.stringify(stale));
  expect((await acquireLock(folder, "server")).kind).toBe("acquired");
  expect(await readdir(folder)).toEqual(["server.lock.8"]);
});

test("of many who find a dead holder at once, exactly one takes over", async () => {
  for (let round = 0; round < 5; round += 1) {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "server.lock.1"), JSON.stringify(stale));
    const locks = await Promise.all(Array.from({ length: 8 }, async () => acquireLock(folder, "server")));
    expect(locks.filter(({ kind }) => kind === "acquired")).toHaveLength(1);
  }
});
