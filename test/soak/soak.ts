/**
 * A month lived with, on real hosts: rounds of a plan, each standing for a day, on one site. The operator uses documented
 * commands alone; at the end every node runs the version that the operator wants.
 */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startHosts, type Hosts } from "../support/hosts/hosts.ts";
import { checkEnd } from "./check-end.ts";
import { liveDay, type Day } from "./day.ts";
import type { Scene } from "./faults.ts";
import { addMachine, DISK_BYTES, IMAGE_VERSION, type Machine } from "./machine.ts";
import { planSoak, type PlanOptions, type Round } from "./plan.ts";
import { bring } from "./releases.ts";
import { reportedNodes } from "./catch-up.ts";
import { startSoakSite, type SoakSite } from "./site.ts";
import { roundWords } from "./tell.ts";

export interface SoakOptions extends PlanOptions {
  /** Gets the logs of a soak that fails. */
  readonly logsTo: string;
  readonly onReady?: (seconds: number) => void;
  readonly onDay?: (round: Round, day: Day) => void;
}

export interface Soaked {
  readonly days: readonly Day[];
  readonly seconds: number;
  /** Categories of the incidents that are open at the end, for people to look at. */
  readonly open: Readonly<Record<string, number>>;
}

export async function soak(options: SoakOptions): Promise<Soaked> {
  const { seed, hosts: count, logsTo, onReady, onDay } = options;
  const began = performance.now();
  const secondsSoFar = (): number => (performance.now() - began) / 1000;
  const deeds: string[] = [];
  let at = "setup";
  deeds.push(at);
  let hosts: Hosts | undefined;
  let site: SoakSite | undefined;
  const machines: Machine[] = [];
  try {
    [hosts, site] = await startBoth(count, (deed) => void deeds.push(`  fairlead ${deed}`));
    for (const [index, host] of hosts.all.entries())
      machines.push(await addMachine(site, host, `host-${index + 1}`));
    const scene: Scene = { site, machines };
    await reportedNodes(scene);
    let wanted = await bring(site, IMAGE_VERSION, "sound");
    onReady?.(secondsSoFar());
    const days: Day[] = [];
    for (const round of planSoak(options)) {
      at = `day ${round.day} (${roundWords(round)})`;
      deeds.push(at);
      const day = await liveDay(scene, round, wanted);
      ({ wanted } = day);
      days.push(day);
      onDay?.(round, day);
    }
    at = "the end";
    deeds.push(at);
    await checkEnd(scene, wanted);
    const byCategory = Map.groupBy(await site.operator.openIncidents(), ({ category }) => category);
    const open = Object.fromEntries([...byCategory].map(([category, all]) => [category, all.length]));
    return { days, seconds: secondsSoFar(), open };
  } catch (error) {
    await keepLogs(logsTo, site, machines, deeds);
    const why = error instanceof Error ? error.message : String(error);
    const done = deeds.slice(deeds.indexOf(at)).join("\n");
    throw new Error(`seed ${seed}, ${at}: ${why}\n${done}\nlogs: ${logsTo}`, { cause: error });
  } finally {
    await hosts?.stop();
    await site?.lab.stop();
  }
}

/** Both, or neither. */
async function startBoth(count: number, note: (deed: string) => void): Promise<[Hosts, SoakSite]> {
  const [hosts, site] = await Promise.allSettled([
    startHosts({ count, diskBytes: DISK_BYTES }),
    startSoakSite(note),
  ]);
  if (hosts.status === "fulfilled" && site.status === "fulfilled") return [hosts.value, site.value];
  if (hosts.status === "fulfilled") await hosts.value.stop();
  if (site.status === "fulfilled") await site.value.lab.stop();
  throw (hosts.status === "rejected" ? hosts.reason : (site as PromiseRejectedResult).reason) as Error;
}

async function keepLogs(
  folder: string,
  site: SoakSite | undefined,
  machines: readonly Machine[],
  deeds: readonly string[],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "operator.log"), `${deeds.join("\n")}\n`);
  if (site !== undefined) {
    const isLog = (path: string): boolean => path === site.lab.folder || /\.(log|out)$/.test(path);
    await cp(site.lab.folder, folder, { recursive: true, filter: isLog });
  }
  for (const machine of machines) {
    const log = machine.host.isOn() ? await machine.log() : "off";
    await writeFile(join(folder, `${machine.name}.log`), log);
  }
}
