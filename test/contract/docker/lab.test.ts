/** The lab itself: what a test that was killed left behind is gone when the next one begins. */
import { access, readFile, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { minimalEnv, spawnChild } from "../../../src/host/process.ts";
import { removeLeftOverLabs } from "../../support/docker/left-over.ts";

const CHILD = fileURLToPath(import.meta.resolve("../../support/docker/lab-child.ts"));

it("a killed test's engine, registry, containers, mounts and network are taken away by the next", async () => {
  const { child } = await spawnChild(process.execPath, [CHILD], {
    env: { ...minimalEnv(), TMPDIR: tmpdir() },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((done) => child.once("exit", done));
  const folder = await new Promise<string>((done) =>
    child.stdout!.once("data", (chunk: Buffer) => done(chunk.toString())),
  );
  child.kill("SIGKILL");
  await exited;
  expect(await processesNaming(folder)).not.toEqual([]);

  await removeLeftOverLabs();
  expect(await processesNaming(folder)).toEqual([]);
  expect(await readFile("/proc/self/mountinfo", "utf8")).not.toContain(folder);
  await expect(access(folder)).rejects.toThrow("ENOENT");
  expect(await readdir("/run/netns")).not.toContain(folder.split("/").at(-1));
});

async function processesNaming(folder: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) =>
      (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).includes(folder) ? [pid] : [],
    ),
  );
  return found.flat();
}
