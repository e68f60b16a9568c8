// `npm run repeat` calls a run green only if it left nothing on the machine.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { leftBehind, whatIsThere } from "../../scripts/repeat/left-behind.ts";

test("a process that still works in the clone is left behind, and one elsewhere is not", async () => {
  const clone = realpathSync(mkdtempSync(join(tmpdir(), "fl-left-")));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  const before = whatIsThere(clone);
  const start = (cwd: string) => spawn("sleep", ["600"], { cwd, stdio: "ignore" });
  const children = [start(clone), start("/")];
  onTestFinished(() => children.forEach((child) => child.kill("SIGKILL")));
  await Promise.all(children.map((child) => once(child, "spawn")));
  const { processes } = whatIsThere(clone);
  expect(leftBehind(before, { ...before, processes })).toEqual([`process ${children[0]!.pid} sleep 600`]);
});

test("namespaces and mounts that were not there before are left behind", () => {
  const before = { processes: new Set<string>(), namespaces: new Set(["old"]), mounts: new Set(["/"]) };
  const after = { ...before, namespaces: new Set(["old", "new"]), mounts: new Set(["/", "/mnt"]) };
  expect(leftBehind(before, after)).toEqual(["network namespace new", "mount /mnt"]);
  expect(leftBehind(before, before)).toEqual([]);
});
