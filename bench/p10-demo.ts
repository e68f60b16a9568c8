/** P10: how long a newcomer waits for `npm run demo`, by a clock outside of it: npm and the bootstrap count as well. */
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { minimalEnv, spawnChild } from "../src/host/process.ts";
import { stopProcess } from "../src/host/process-identity.ts";
import type { Measurement } from "./support/measurement.ts";
import { median } from "./support/statistics.ts";
import type { Workplace } from "./support/workplace.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const RUNS = 3;
const RUN_TIMEOUT_MS = 180_000;
const STOP_GRACE_MS = 30_000;
const REACH = { consoleSeconds: 5, upgradeSeconds: 20 } as const;

const CONSOLE_UP = /console up after (\d+) ms/;
const DemoResult = z.object({ status: z.string(), seconds: z.number() });

export async function run(place: Workplace): Promise<Measurement> {
  const runs: DemoRun[] = [];
  for (let count = 1; count <= RUNS; count += 1) {
    place.say(`P10: demo ${count} of ${RUNS}`);
    runs.push(await timeDemo(place));
  }
  const of = (pick: (one: DemoRun) => number) => median(runs.map(pick));
  const consoleUp = of((one) => one.consoleSeconds);
  const upgraded = of((one) => one.upgradeSeconds);
  const quick = upgraded < REACH.upgradeSeconds;
  return {
    ours: consoleUp,
    peer: null,
    limit: null,
    unit: "s until the console is up",
    reached: consoleUp < REACH.consoleSeconds && quick,
    also: [
      {
        name: "all five machines upgraded",
        value: upgraded,
        unit: "s",
        reach: `< ${REACH.upgradeSeconds}`,
        reached: quick,
      },
      { name: "console up, by the demo's own clock", value: of((one) => one.ownConsoleSeconds), unit: "s" },
      { name: "upgraded, by the demo's own clock", value: of((one) => one.ownSeconds), unit: "s" },
    ],
  };
}

interface DemoRun {
  readonly consoleSeconds: number;
  readonly upgradeSeconds: number;
  readonly ownConsoleSeconds: number;
  readonly ownSeconds: number;
}

async function timeDemo(place: Workplace): Promise<DemoRun> {
  const began = performance.now();
  const since = (): number => (performance.now() - began) / 1000;
  const env = { ...minimalEnv(), HOME: process.env["HOME"] ?? place.folder };
  const { child, identity } = await spawnChild("npm", ["run", "demo", "--", "--once", "--json"], {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = async (): Promise<void> =>
    void (await stopProcess(identity, { graceMs: STOP_GRACE_MS, group: true }));
  place.undo("demo", stop);
  const timer = setTimeout(() => void stop(), RUN_TIMEOUT_MS);
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));

  const told: string[] = [];
  let consoleUp: { readonly seconds: number; readonly own: number } | null = null;
  createInterface({ input: child.stderr! }).on("line", (line) => {
    told.push(line);
    const own = CONSOLE_UP.exec(line)?.[1];
    if (own !== undefined) consoleUp ??= { seconds: since(), own: Number(own) / 1000 };
  });
  let last = { line: "", seconds: 0 };
  createInterface({ input: child.stdout! }).on("line", (line) => (last = { line, seconds: since() }));

  const code = await exited;
  clearTimeout(timer);
  const up = consoleUp as { readonly seconds: number; readonly own: number } | null;
  if (code !== 0 || up === null)
    throw new Error(`the demo left with ${code}:\n${told.slice(-20).join("\n")}`);
  const { status, seconds } = DemoResult.parse(JSON.parse(last.line));
  if (status !== "completed") throw new Error(`the demo ended ${status}`);
  return {
    consoleSeconds: up.seconds,
    upgradeSeconds: last.seconds,
    ownConsoleSeconds: up.own,
    ownSeconds: seconds,
  };
}
