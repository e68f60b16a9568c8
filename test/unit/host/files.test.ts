import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  ensureDirectory,
  readBounded,
  readJson,
  readJsonIfThere,
  writeJsonDurable,
} from "../../../src/host/files.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const Shape = z.strictObject({ count: z.number() });

test("a file is read up to its bound, and refused one byte above", async () => {
  const path = join(await temporaryFolder(), "file");
  await writeFile(path, "12345");
  expect((await readBounded(path, 5)).toString()).toBe("12345");
  await expect(readBounded(path, 4)).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
});

test("a file that says it is empty is still bounded: /proc does", async () => {
  expect((await readBounded("/proc/self/stat", 4_096)).length).toBeGreaterThan(0);
  await expect(readBounded("/proc/self/stat", 4)).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
});

test("a link, a folder and a device are refused, and what is missing is FILE_NOT_FOUND", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "file"), "x");
  await symlink(join(folder, "file"), join(folder, "link"));
  await expect(readBounded(join(folder, "link"), 10)).rejects.toMatchObject({ code: "PATH_REFUSED" });
  await expect(readBounded(folder, 10)).rejects.toMatchObject({ code: "PATH_REFUSED" });
  await expect(readBounded("/dev/zero", 10)).rejects.toMatchObject({ code: "PATH_REFUSED" });
  await expect(readBounded(join(folder, "none"), 10)).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
});

test("JSON comes back as it was kept; what has another shape is refused without showing its content", async () => {
  const path = join(await temporaryFolder(), "state.json");
  expect(await readJsonIfThere(path, Shape)).toBeUndefined();
  await writeJsonDurable(path, { count: 3 });
  expect(await readJson(path, Shape)).toEqual({ count: 3 });
  await writeJsonDurable(path, { count: "hunter2" });
  const error = await readJson(path, Shape).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "INVALID_INPUT" });
  expect(String(error)).toContain("count");
  expect(String(error)).not.toContain("hunter2");
  await writeFile(path, '{"count":');
  await expect(readJson(path, Shape)).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("folders are made with their parents, and again without complaint; below a file they cannot be", async () => {
  const folder = await temporaryFolder();
  await ensureDirectory(join(folder, "a/b/c"));
  await ensureDirectory(join(folder, "a/b/c"));
  await mkdir(join(folder, "a/b/c/d"));
  await writeFile(join(folder, "file"), "");
  await expect(ensureDirectory(join(folder, "file/below"))).rejects.toThrow("ENOTDIR");
  expect(await readFile(join(folder, "file"), "utf8")).toBe("");
});
