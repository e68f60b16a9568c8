/**
 * Names of hosts, and of everything that belongs to one: `fl-h-PID-TICKS-N`. They say which process made it, so that
 * the next run can tell what a crashed one left behind from what another one uses.
 */
import { readdir } from "node:fs/promises";
import { processStart } from "../../../src/host/process-identity.ts";

const PREFIX = "fl-h-";
const NAME = /^fl-h-(\d+)-(\d+)(-|$)/;

const ticksOf = (pid: number): string | undefined => processStart(pid)?.split(":").at(-1);

let made = 0;
export const nextName = (): string => `${PREFIX}${process.pid}-${ticksOf(process.pid)}-${++made}`;

/** Whether whoever made it is gone. */
function isLeftOver(name: string): boolean {
  const [, pid, ticks] = NAME.exec(name) ?? [];
  return pid !== undefined && ticksOf(Number(pid)) !== ticks;
}

export async function leftOverIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter(isLeftOver);
}
