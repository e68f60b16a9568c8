/** "It is gone" is said of what is gone, and of nothing that could not be looked at. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hashFollowing } from "../../../src/agent/upgrade/adapters/files/hash-following.ts";
import { stampOf } from "../../../src/agent/upgrade/adapters/files/stamp.ts";
import { executedBytes } from "../../../src/agent/upgrade/adapters/systemd/executed.ts";
import { parseUnitState } from "../../../src/agent/upgrade/adapters/systemd/unit-state.ts";
import { nodeFileSystem } from "../../../src/host/file-system-port.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairlead-gone-"));
  file = join(folder, "file");
  await writeFile(file, "bytes");
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

const STATE = parseUnitState("LoadState=loaded\nActiveState=active\nMainPID=7\n");
const executed = async (procDir: string) =>
  executedBytes({ procDir, installPath: join(folder, "none"), fs: nodeFileSystem })(STATE, undefined);

test("ROLL-15: what is gone is told as gone", async () => {
  expect(await hashFollowing(join(folder, "none"))).toBeNull();
  expect(await stampOf(join(folder, "none"))).toBe("absent");
  expect(await executed(folder)).toBeNull();
});

test("ROLL-15: what cannot be read is an error, not gone", async () => {
  await expect(hashFollowing(folder)).rejects.toMatchObject({ code: "EISDIR" });
  await expect(stampOf(join(file, "below"))).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(executed(file)).rejects.toMatchObject({ code: "ENOTDIR" });
});
