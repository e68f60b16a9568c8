import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolveInside } from "../../../src/host/safe-path.ts";
import { temporaryFolder } from "./temporary-folder.ts";

test("a plain relative path resolves under the root, whether it exists or not", async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, "conf"));
  expect(await resolveInside(root, "conf/app.toml")).toBe(join(root, "conf/app.toml"));
  expect(await resolveInside(root, "new/deep/file")).toBe(join(root, "new/deep/file"));
  expect(await resolveInside(root, "..hidden")).toBe(join(root, "..hidden"));
});

test.each([
  ["../../etc"],
  ["a/../../b"],
  ["a/.."],
  [".."],
  ["."],
  ["/etc/passwd"],
  [""],
  ["a//b"],
  ["a/"],
  ["a\0b"],
])("%j is refused", async (path) => {
  await expect(resolveInside(await temporaryFolder(), path)).rejects.toMatchObject({ code: "PATH_REFUSED" });
});

test("a name that no file system takes is refused, and the longest one is not", async () => {
  const root = await temporaryFolder();
  const name = "x".repeat(255);
  expect(await resolveInside(root, name)).toBe(join(root, name));
  for (const path of [`${name}x`, Array.from({ length: 16 }, () => name).join("/")]) {
    await expect(resolveInside(root, path)).rejects.toMatchObject({ code: "PATH_REFUSED" });
  }
});

test("a link at any place on the way is refused, also one that leads nowhere or back inside", async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, "real"));
  await writeFile(join(root, "real/file"), "");
  await symlink("/etc", join(root, "out"));
  await symlink("real", join(root, "inside"));
  await symlink("nowhere", join(root, "real/dangling"));
  for (const path of ["out/passwd", "out", "inside/file", "real/dangling"]) {
    await expect(resolveInside(root, path)).rejects.toMatchObject({ code: "PATH_REFUSED" });
  }
  expect(await resolveInside(root, "real/file")).toBe(join(root, "real/file"));
});
