/**
 * Which process: a pid alone names another process after a while, a pid and its start time never do.
 *
 * 1. No signal is sent to a process whose start time is not the recorded one.
 * 2. A zombie is not alive: it runs nothing and only waits for its parent.
 * 3. A zombie leader whose other threads still exit is alive: until the last one is gone the process holds its
 *    sockets, locks and files.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { z } from "zod";
import { sleep } from "./clock.ts";
import { errnoOf } from "./file-errors.ts";

/** `startTime` is opaque: on Linux the boot and the ticks since, so that a reboot cannot bring it back. */
export const ProcessIdentity = z.object({
  pid: z.int().positive(),
  startTime: z.string().min(1).max(100),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

const POLL_MS = 20;
const PS_TIMEOUT_MS = 2_000;

/** When the process with this pid started; undefined if there is none. Also told of a zombie. */
export const processStart = (pid: number): string | undefined => look(pid)?.startTime;

export function identityOf(pid: number): ProcessIdentity | undefined {
  const startTime = processStart(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

export function isAlive(identity: ProcessIdentity): boolean {
  const seen = look(identity.pid);
  return seen !== undefined && seen.startTime === identity.startTime && !seen.zombie; // (2)
}

/** Whether the machine has not been rebooted since that process was seen. */
export const isOfThisBoot = ({ startTime }: ProcessIdentity): boolean =>
  process.platform === "linux" && startTime.startsWith(`${bootId()}:`);

export interface KillOptions {
  /** Signal the whole process group that this process leads. */
  readonly group?: boolean;
}

/** Check and signal happen in one synchronous go; the window between them is as small as Node allows. */
export function killProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  { group = false }: KillOptions = {},
): "sent" | "gone" {
  if (!isAlive(identity)) return "gone"; // (1)
  try {
    process.kill(group ? -identity.pid : identity.pid, signal);
    return "sent";
  } catch (error) {
    if (errnoOf(error) === "ESRCH") return "gone";
    throw error;
  }
}

export async function waitForExit(identity: ProcessIdentity, timeoutMs: number): Promise<"gone" | "alive"> {
  for (const until = performance.now() + timeoutMs; isAlive(identity);) {
    if (performance.now() >= until) return "alive";
    await sleep(POLL_MS);
  }
  return "gone";
}

/** Asks with SIGTERM (or another signal), waits, then kills. `alive` means that even SIGKILL did not help in time. */
export async function stopProcess(
  identity: ProcessIdentity,
  { graceMs, signal = "SIGTERM", group = false }: KillOptions & { graceMs: number; signal?: NodeJS.Signals },
): Promise<"gone" | "alive"> {
  killProcess(identity, signal, { group });
  if ((await waitForExit(identity, graceMs)) === "gone") return "gone";
  killProcess(identity, "SIGKILL", { group });
  return waitForExit(identity, KILL_WAIT_MS);
}

const KILL_WAIT_MS = 5_000;

interface Seen {
  readonly startTime: string;
  readonly zombie: boolean;
}

function look(pid: number): Seen | undefined {
  if (process.platform !== "linux") return lookWithPs(pid);
  try {
    const { state, startTicks } = parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
    const zombie = (state === "Z" || state === "X") && !hasOtherThreads(pid);
    return { startTime: `${bootId()}:${startTicks}`, zombie };
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ESRCH") return undefined;
    throw error;
  }
}

const hasOtherThreads = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).some((thread) => thread !== String(pid)); // (3)

/** Fields 3 and 22 of /proc/PID/stat. The name in field 2 may hold spaces and parentheses: count from the last one. */
export function parseStat(stat: string): { state: string; startTicks: string } {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", startTicks: fields[19] ?? "" };
}

let knownBootId: string | undefined;
function bootId(): string {
  knownBootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return knownBootId;
}

function lookWithPs(pid: number): Seen | undefined {
  const shown = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
    timeout: PS_TIMEOUT_MS,
    env: { ...process.env, LC_ALL: "C" },
  }).stdout.toString();
  const [state = "", ...started] = shown.trim().split(/\s+/);
  return state === "" ? undefined : { startTime: started.join(" "), zombie: state.startsWith("Z") };
}
