import { constants } from "node:fs";
import { readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  createExclusive,
  isTemporaryName,
  removeDurable,
  writeDurable,
} from "../../../src/host/durable-write.ts";
import { crashingFileSystem, PowerLost } from "./crashing-file-system.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const FILE = "/disk/state";

/** Writes `old`, then runs `change` on disks that lose power before each of its operations in turn. */
async function afterEachCrash(change: (fs: ReturnType<typeof crashingFileSystem>) => Promise<unknown>) {
  const states: (string | undefined)[] = [];
  for (let stopAfter = 0; ; stopAfter += 1) {
    const rehearsal = crashingFileSystem("/disk");
    await writeDurable(FILE, "old", { fs: rehearsal });
    const fs = crashingFileSystem("/disk", { stopBefore: rehearsal.operations.length + stopAfter });
    await writeDurable(FILE, "old", { fs });
    const ended = await change(fs).then(
      () => "done",
      (error: unknown) => error,
    );
    states.push(fs.afterCrash().get("state"));
    if (ended === "done") return states;
    expect(ended).toBeInstanceOf(PowerLost);
  }
}

test("a power cut at any point of a write leaves the old bytes or the new ones, and the new ones once it is over", async () => {
  const states = await afterEachCrash(async (fs) => writeDurable(FILE, "new", { fs }));
  expect(states.length).toBeGreaterThan(4);
  expect(new Set(states)).toEqual(new Set(["old", "new"]));
  expect(states.at(-1)).toBe("new");
});

test("a write that forgot to sync would be caught by that test", async () => {
  const states = await afterEachCrash(async (fs) => {
    const file = await fs.open("/disk/careless", constants.O_CREAT | constants.O_WRONLY);
    await file.write(Buffer.from("new"));
    await fs.rename("/disk/careless", FILE);
    await (await fs.open("/disk", constants.O_RDONLY)).sync();
  });
  expect(states.at(-1)).toBe("");
});

test("a power cut at any point of a removal leaves the file whole or gone, and gone once it is over", async () => {
  const states = await afterEachCrash(async (fs) => removeDurable(FILE, fs));
  expect(new Set(states)).toEqual(new Set(["old", undefined]));
  expect(states.at(-1)).toBeUndefined();
});

test.each([
  ["ENOSPC", "DISK_FULL"],
  ["EDQUOT", "DISK_FULL"],
])("a disk that answers %s to a write is %s, keeps the old bytes and no litter", async (errno, code) => {
  const fs = crashingFileSystem("/disk", { fail: { on: /^write .*tmp$/, errno } });
  await expect(writeDurable(FILE, "new", { fs })).rejects.toMatchObject({ code });
  expect(fs.now()).toEqual(new Map());
});

test("a disk that answers EIO to a sync fails the write and keeps the old bytes", async () => {
  const fs = crashingFileSystem("/disk", { fail: { on: /^sync .*tmp$/, errno: "EIO" } });
  await expect(writeDurable(FILE, "new", { fs })).rejects.toMatchObject({ code: "EIO" });
  expect(fs.now().has("state")).toBe(false);
});

test("a write into a folder replaces a link instead of following it, and sets the mode it was given", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "victim"), "untouched");
  await symlink(join(folder, "victim"), join(folder, "target"));
  await writeDurable(join(folder, "target"), "mine", { mode: 0o755 });
  expect(await readFile(join(folder, "victim"), "utf8")).toBe("untouched");
  expect(await readFile(join(folder, "target"), "utf8")).toBe("mine");
  expect((await stat(join(folder, "target"))).mode & 0o777).toBe(0o755);
  expect((await readdir(folder)).filter(isTemporaryName)).toEqual([]);
});

test("of many who claim a name at once, one gets it and the others hear that it exists", async () => {
  const folder = await temporaryFolder();
  const claims = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => createExclusive(join(folder, "claim"), String(index))),
  );
  const winner = claims.findIndex(({ kind }) => kind === "created");
  expect(claims.filter(({ kind }) => kind === "created")).toHaveLength(1);
  expect(await readFile(join(folder, "claim"), "utf8")).toBe(String(winner));
  expect(await readdir(folder)).toEqual(["claim"]);
});

test("a claim that was announced survives a power cut, whole", async () => {
  const fs = crashingFileSystem("/disk");
  expect(await createExclusive(FILE, "mine", { fs })).toEqual({ kind: "created" });
  expect(fs.afterCrash().get("state")).toBe("mine");
});
