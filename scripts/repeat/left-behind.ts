// Things that a test run makes on the machine and must take away again.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface Inventory {
  readonly processes: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  readonly mounts: ReadonlySet<string>;
}

/** Processes count when they work in the clone or were started from it: agents, engines, browsers, containers' shims. */
export const whatIsThere = (clone: string): Inventory => ({
  processes: new Set(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .flatMap((pid) => describeIfOf(clone, pid)),
  ),
  namespaces: new Set(existsSync("/run/netns") ? readdirSync("/run/netns") : []),
  mounts: new Set(
    readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[1] ?? ""),
  ),
});

export function leftBehind(before: Inventory, after: Inventory): string[] {
  const added = (kind: keyof Inventory) => [...after[kind]].filter((each) => !before[kind].has(each));
  return [
    ...added("processes").map((each) => `process ${each}`),
    ...added("namespaces").map((each) => `network namespace ${each}`),
    ...added("mounts").map((each) => `mount ${each}`),
  ];
}

function describeIfOf(clone: string, pid: string): string[] {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    const isOurs = command.includes(clone) || readlinkSync(`/proc/${pid}/cwd`).startsWith(clone);
    return isOurs ? [`${pid} ${command.slice(0, 200)}`] : [];
  } catch {
    return []; // gone meanwhile
  }
}
