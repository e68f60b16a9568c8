import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { programLog } from "../../../src/agent/shim/program-log.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "fairlead-log-"))));
afterEach(async () => rm(folder, { recursive: true }));

async function* lines(count: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield Buffer.from(`line ${String(n).padStart(4, "0")}\n`);
}

it("turns the file over by size and keeps the newest few", async () => {
  await programLog(join(folder, "program.log"), 100).follow(lines(100));
  expect((await readdir(folder)).toSorted()).toEqual([
    "program.log",
    "program.log.1",
    "program.log.2",
    "program.log.3",
  ]);
  expect(await readFile(join(folder, "program.log"), "utf8")).toMatch(/line 0099\n$/);
  for (const name of await readdir(folder))
    expect((await readFile(join(folder, name))).length).toBeLessThanOrEqual(100);
});

it("goes on in the file that an earlier shim left", async () => {
  const path = join(folder, "program.log");
  await programLog(path, 100).follow(lines(5));
  await programLog(path, 100).follow(lines(5));
  expect(await readdir(folder)).toEqual(["program.log"]);
  expect((await readFile(path, "utf8")).split("\n")).toHaveLength(11);
});

it("loses lines rather than the program when nothing can be written", async () => {
  await expect(
    programLog(join(folder, "no", "such", "folder"), 100).follow(lines(10)),
  ).resolves.toBeUndefined();
});
