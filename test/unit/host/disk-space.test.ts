import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diskProblem } from "../../../src/host/disk-space.ts";
import { systemError, trippingFileSystem } from "../../support/programs/tripping-file-system.ts";
import { temporaryFolder } from "./temporary-folder.ts";

test("a folder with room is no problem, and nothing is left in it", async () => {
  const folder = await temporaryFolder();
  expect(await diskProblem(folder, 1)).toBeNull();
  expect(await readdir(folder)).toEqual([]);
});

test("a file system with less room than is needed is named with both numbers", async () => {
  const folder = await temporaryFolder();
  expect(await diskProblem(folder, 2 ** 60)).toMatch(
    /^\/.+ has \d+ MiB left; at least 1099511627776 MiB are needed$/,
  );
});

test.each(["ENOSPC", "EDQUOT", "EIO", "EROFS"])(
  "a folder that answers %s to a write is a problem, whatever room it claims, and recovers",
  async (errno) => {
    const folder = await temporaryFolder();
    let isBroken = true;
    const fs = trippingFileSystem((operation) => {
      if (isBroken && operation.startsWith("write ")) throw systemError(errno);
    });
    expect(await diskProblem(folder, 1, fs)).toContain("cannot be written");
    isBroken = false;
    expect(await diskProblem(folder, 1, fs)).toBeNull();
  },
);

test("a folder that is gone is a problem", async () => {
  expect(await diskProblem(join(await temporaryFolder(), "gone"), 1)).toContain("cannot be written");
});
