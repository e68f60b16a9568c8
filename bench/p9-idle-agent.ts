/**
 * P9: what an agent costs a machine on which nothing happens.
 *
 * 1. Two real agents at once: one that has just enrolled and still carries what that took, one that was started again
 *    since. The number has to hold for both: ours is the worse.
 * 2. The same two as a single executable, beside them: the form that packages bring.
 */
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentExecutable } from "../scripts/package/contents.ts";
import { sleep } from "../src/host/clock.ts";
import { spawnChild } from "../src/host/process.ts";
import { stopProcess, type ProcessIdentity } from "../src/host/process-identity.ts";
import { coresDuring, cpuOf, residentMb } from "./support/cpu.ts";
import type { Measurement } from "./support/measurement.ts";
import { BUNDLE, prepareRealNode, type RealNode } from "./support/real-node.ts";
import { startSite } from "./support/site.ts";
import { median } from "./support/statistics.ts";
import type { Workplace } from "./support/workplace.ts";

/** Starting up is over by then, and the first heartbeats are sent. */
const SETTLE_MS = 30_000;
const WATCH_MS = 120_000;
const SAMPLE_MS = 5_000;
const STARTS = 21;
const REACH = { residentMb: 80, cpuPercent: 0.2 } as const;

export async function run(place: Workplace): Promise<Measurement> {
  const site = await startSite(place);
  const [first, second] = await Promise.all(
    ["idle-enrolled", "idle-restarted"].map((name) => prepareRealNode(place, site, name)),
  );
  const executable = join(place.folder, "fairlead-agent");
  await writeFile(executable, await agentExecutable("x64"), { mode: 0o755 });
  // A file that was just written is mapped in larger pieces: 16 MB more than after a reboot, of any Node.
  spawnSync("/usr/bin/sync", [executable]);
  spawnSync("/usr/bin/dd", [`if=${executable}`, "iflag=nocache", "count=0"]);
  const [third, fourth] = await Promise.all(
    ["single-enrolled", "single-restarted"].map((name) => prepareRealNode(place, site, name, [executable])),
  ); // (2)
  const enrolled = await first!.startAgent();
  const singleEnrolled = await third!.startAgent();
  const restarted = await startedTwice(second!);
  const singleRestarted = await startedTwice(fourth!);
  const bare = await startBareNode(place);

  place.say(`P9: settling for ${SETTLE_MS / 1000} s, then two minutes of nothing`);
  await sleep(SETTLE_MS);
  const watched = { enrolled, restarted, singleEnrolled, singleRestarted, bare };
  const meters = {
    enrolled: () => cpuOf(enrolled.pid),
    restarted: () => cpuOf(restarted.pid),
    single: () => cpuOf(singleEnrolled.pid),
    bare: () => cpuOf(bare.pid),
  };
  const { result: resident, cores } = await coresDuring(meters, () => watch(watched));

  const ours = Math.max(resident.enrolled, resident.restarted); // (1)
  const cpu = Math.max(cores.enrolled, cores.restarted) * 100;
  const small = ours < REACH.residentMb;
  const quiet = cpu < REACH.cpuPercent;
  return {
    ours,
    peer: null,
    limit: resident.bare,
    unit: "MB RSS",
    reached: small && quiet,
    also: [
      { name: "CPU over two minutes", value: cpu, unit: "%", reach: `< ${REACH.cpuPercent}`, reached: quiet },
      { name: "RSS, enrolled in this process", value: resident.enrolled, unit: "MB" },
      { name: "RSS, started again since", value: resident.restarted, unit: "MB" },
      {
        name: "RSS of the single executable, enrolled in this process",
        value: resident.singleEnrolled,
        unit: "MB",
      },
      {
        name: "RSS of the single executable, started again since",
        value: resident.singleRestarted,
        unit: "MB",
      },
      { name: "CPU of the single executable", value: cores.single * 100, unit: "%" },
      { name: "start of the bundle, --version", value: startMs(process.execPath, BUNDLE), unit: "ms" },
      { name: "start of the single executable, --version", value: startMs(executable), unit: "ms" },
      { name: "CPU, enrolled in this process", value: cores.enrolled * 100, unit: "%" },
      { name: "CPU, started again since", value: cores.restarted * 100, unit: "%" },
      { name: "CPU of the bare process", value: cores.bare * 100, unit: "%" },
    ],
  };
}

async function startedTwice(node: RealNode): Promise<ProcessIdentity> {
  await stopProcess(await node.startAgent(), { graceMs: 10_000 });
  return node.startAgent();
}

/** The median of many: a start is over before a busy machine gives it a second turn. */
function startMs(file: string, ...args: string[]): number {
  const times = Array.from({ length: STARTS }, () => {
    const began = performance.now();
    spawnSync(file, [...args, "--version"]);
    return performance.now() - began;
  });
  return median(times);
}

async function startBareNode(place: Workplace): Promise<ProcessIdentity> {
  const script = "setInterval(() => undefined, 10_000)";
  const { identity } = await spawnChild(process.execPath, ["-e", script], { stdio: "ignore" });
  place.undo("bare node", async () => void (await stopProcess(identity, { graceMs: 1_000 })));
  return identity;
}

/** The median of each one's memory over the time. */
async function watch<K extends string>(
  processes: Readonly<Record<K, ProcessIdentity>>,
): Promise<Record<K, number>> {
  const names = Object.keys(processes) as K[];
  const samples = new Map(names.map((name) => [name, [] as number[]]));
  for (const until = performance.now() + WATCH_MS; performance.now() < until; await sleep(SAMPLE_MS))
    for (const name of names) samples.get(name)!.push(await residentMb(processes[name].pid));
  return Object.fromEntries(names.map((name) => [name, median(samples.get(name)!)])) as Record<K, number>;
}
