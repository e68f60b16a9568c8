/** The lab itself: what a killed run leaves behind is gone after the next one. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { minimalEnv, spawnChild } from "../../../src/host/process.ts";
import { startHosts } from "../../support/hosts/hosts.ts";
import { processesAround } from "../../support/lab/processes.ts";

const PLACES = ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/var/tmp", "/run/netns"];

/** Of one run: its hub is numbered before its hosts. */
async function tracesOf(prefix: string): Promise<string[]> {
  const lists = await Promise.all(
    PLACES.map(async (place) =>
      existsSync(place) ? (await readdir(place)).map((name) => join(place, name)) : [],
    ),
  );
  return lists.flat().filter((path) => path.includes(prefix));
}

it("hosts of a run that was killed are ended by the next one, and nothing of them stays", async () => {
  const script = fileURLToPath(import.meta.resolve("../../support/hosts/abandoned-child.ts"));
  const { child } = await spawnChild(process.execPath, [script], {
    env: minimalEnv(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((done) => child.once("exit", done));
  const said = await new Promise<string>((done) =>
    child.stdout!.once("data", (chunk: Buffer) => done(chunk.toString().trim())),
  );
  child.kill("SIGKILL");
  await exited;
  const run = said.replace(/\d+$/, "");
  expect((await tracesOf(run)).length).toBeGreaterThan(4);
  expect((await processesAround([run])).length).toBeGreaterThan(0);

  const hosts = await startHosts({ count: 1 });
  expect(await tracesOf(run)).toEqual([]);
  expect(await processesAround([run])).toEqual([]);
  const { name } = hosts.all[0]!;
  await hosts.stop();
  expect(await tracesOf(name)).toEqual([]);
  expect(await processesAround([name])).toEqual([]);
});
