/**
 * An agent's executor in a process of its own, to be killed: runs one job and stops for ever at one point.
 * The point is a list of file operations, waited for in order; it stops before the last of them happens.
 */
import { readFile } from "node:fs/promises";
import { runUpgrade } from "../../../src/agent/upgrade/executor.ts";
import { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { ProgramConfig } from "../../../src/agent/programs/config.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { type Place, realRuntime } from "./runtimes.ts";
import { trippingFileSystem } from "./tripping-file-system.ts";

export interface ChildSpec {
  readonly program: unknown;
  readonly place: Place;
  readonly stateDir: string;
  readonly job: unknown;
  readonly contents: readonly (readonly [string, string])[];
  readonly stopAt: readonly string[];
}

async function main(path: string): Promise<void> {
  const spec = JSON.parse(await readFile(path, "utf8")) as ChildSpec;
  const program = ProgramConfig.parse(spec.program);
  const contents = new Map(spec.contents);
  const points = spec.stopAt.map((text) => new RegExp(text));

  const fs = trippingFileSystem(async (operation) => {
    if (points[0]?.test(operation) !== true) return;
    points.shift();
    if (points.length > 0) return;
    process.stdout.write("there\n");
    await new Promise(() => setInterval(() => undefined, 60_000));
  });
  const outcome = await runUpgrade(UpgradeJob.parse(spec.job), {
    adapter: realRuntime({ program, stateDir: spec.stateDir, fs }, spec.place),
    stateDir: spec.stateDir,
    clock: systemClock,
    log: silentLogger,
    onProgress: () => undefined,
    fetchConfig: async ({ sha256 }) => Buffer.from(contents.get(sha256) ?? ""),
    fs,
  });
  process.stdout.write(`ended ${outcome.verdict}\n`);
}

await main(process.argv[2]!);
