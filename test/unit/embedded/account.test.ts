import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isReachable, parsePasswd } from "../../../src/server/embedded/account.ts";
import { temporaryFolder } from "../host/temporary-folder.ts";

const stranger = { uid: 64_999, gid: 64_999 };

test("a folder is reachable when the account may pass each folder above it", async () => {
  const folder = await temporaryFolder();
  const deep = join(folder, "a/b");
  await mkdir(deep, { recursive: true });
  for (const each of [folder, join(folder, "a"), deep]) await chmod(each, 0o711);
  expect(await isReachable(deep, stranger)).toBe(true);
  await chmod(join(folder, "a"), 0o700);
  expect(await isReachable(deep, stranger)).toBe(false);
  expect(await isReachable(deep, undefined)).toBe(true);
});

test("the owner's and the group's own bits count, not the others'", async () => {
  const folder = await temporaryFolder();
  const us = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  await chmod(folder, 0o100);
  expect(await isReachable(folder, us)).toBe(true);
  expect(await isReachable(folder, { ...us, uid: stranger.uid })).toBe(false);
  await chmod(folder, 0o710);
  expect(await isReachable(folder, { ...us, uid: stranger.uid })).toBe(true);
  await chmod(folder, 0o601);
  expect(await isReachable(folder, us)).toBe(false);
});

test("accounts are read from passwd lines, and broken lines are passed over", () => {
  const accounts = parsePasswd(
    "root:x:0:0:root:/root:/bin/sh\n\nbroken\nnobody:x:65534:65533::/:/bin/false\n",
  );
  expect(accounts.get("nobody")).toEqual({ uid: 65_534, gid: 65_533 });
  expect(accounts.size).toBe(2);
});
