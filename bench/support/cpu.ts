/** CPU time and memory of processes, as the kernel counts them. */
import { readdir, readFile } from "node:fs/promises";
import { isMissing } from "../../src/host/file-errors.ts";

/** USER_HZ: a constant of the Linux ABI. */
const TICKS_PER_SECOND = 100;

interface Usage {
  readonly parent: number;
  readonly own: number;
  /** Of children that ended and were waited for. */
  readonly reaped: number;
}

async function usageOf(pid: number): Promise<Usage | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const ticks = (at: number): number => (fields[at]! + fields[at + 1]!) / TICKS_PER_SECOND;
    return { parent: fields[1]!, own: ticks(11), reaped: ticks(13) };
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ESRCH") return null;
    throw error;
  }
}

/** Seconds of CPU that this one process has used. */
export const cpuOf = async (pid: number): Promise<number> => (await usageOf(pid))?.own ?? 0;

async function treeOf(root: number): Promise<ReadonlyMap<number, Usage>> {
  const pids = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  const usages = new Map(await Promise.all(pids.map(async (pid) => [pid, await usageOf(pid)] as const)));
  const isBelow = (pid: number): boolean => {
    for (let at = pid; at > 1; at = usages.get(at)?.parent ?? 0) if (at === root) return true;
    return false;
  };
  return new Map(
    [...usages].flatMap(([pid, usage]) => (usage !== null && isBelow(pid) ? [[pid, usage]] : [])),
  );
}

/** The same of a process and of everything below it, the dead included. */
export async function cpuOfTree(root: number): Promise<number> {
  return [...(await treeOf(root)).values()].reduce((sum, { own, reaped }) => sum + own + reaped, 0);
}

/** Memory of a process and of everything below it, in megabytes: what several of them share counts once. */
export async function memoryOfTree(root: number): Promise<number> {
  const pids = [...(await treeOf(root)).keys()];
  const shares = await Promise.all(
    pids.map(async (pid) => readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "")),
  );
  const kib = shares.reduce((sum, text) => sum + Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0), 0);
  return (kib * 1024) / 1e6;
}

/** Resident memory in megabytes (10^6 bytes). */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const kib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  return (kib * 1024) / 1e6;
}

/** Cores that each of these used while the work was done. */
export async function coresDuring<K extends string, T>(
  meters: Readonly<Record<K, () => Promise<number>>>,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly cores: Readonly<Record<K, number>>; readonly seconds: number }> {
  const names = Object.keys(meters) as K[];
  const read = () => Promise.all(names.map((name) => meters[name]()));
  const before = await read();
  const began = performance.now();
  const result = await work();
  const seconds = (performance.now() - began) / 1000;
  const after = await read();
  const cores = Object.fromEntries(names.map((name, at) => [name, (after[at]! - before[at]!) / seconds]));
  return { result, cores: cores as Record<K, number>, seconds };
}
