/**
 * The processes of a lab. Each is known by its identity from its first moment, shares no pipe with the test, and ends
 * with the lab; whatever else names the lab's folder ends then too.
 */
import { closeSync, openSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { spawnDetached, type SpawnOptions } from "../../../src/host/process.ts";
import {
  identityOf,
  isAlive,
  killProcess,
  type ProcessIdentity,
  stopProcess,
  waitForExit,
} from "../../../src/host/process-identity.ts";
import { eventually } from "./eventually.ts";

const GRACE_MS = 20_000;
const LOG_TAIL = 2_000;

export type LabProcesses = ReturnType<typeof labProcesses>;

/** `places` are the folders whose processes end with the lab; it may grow. */
export function labProcesses(folder: string, places: readonly string[]) {
  const started: ProcessIdentity[] = [];
  return {
    /** What it prints goes to `NAME.out` and `NAME.log` in the lab's folder, unless its stderr is another file. */
    async start(
      name: string,
      file: string,
      args: readonly string[],
      { stderr = join(folder, `${name}.log`), ...options }: SpawnOptions & { readonly stderr?: string },
    ): Promise<ProcessIdentity> {
      const out = openSync(join(folder, `${name}.out`), "a", 0o600);
      const log = openSync(stderr, "a", 0o600);
      try {
        const identity = await spawnDetached(file, args, { ...options, stdio: ["ignore", out, log] });
        started.push(identity);
        return identity;
      } finally {
        closeSync(out);
        closeSync(log);
      }
    },
    /** Waits for a sign of a process that was started here; one that has ended instead is told with its last words. */
    async signOf(name: string, identity: ProcessIdentity, look: () => Promise<boolean>): Promise<void> {
      const seen = await eventually(`${name} is up`, async () => {
        if (!isAlive(identity)) return "ended";
        return (await look()) ? "up" : null;
      });
      if (seen === "up") return;
      const log = await readFile(join(folder, `${name}.log`), "utf8");
      throw new Error(`${name} ended while it started: ${log.slice(-LOG_TAIL)}`);
    },
    /** Politely, last started first; then what they left behind, by force. */
    async stopAll(): Promise<void> {
      for (const identity of started.toReversed()) await stopProcess(identity, { graceMs: GRACE_MS });
      for (const { identity } of await processesAround(places)) await killHard(identity);
    },
  };
}

/** SIGKILL, and gone when it returns. */
export async function killHard(identity: ProcessIdentity): Promise<void> {
  killProcess(identity, "SIGKILL");
  if ((await waitForExit(identity, GRACE_MS)) === "alive")
    throw new Error(`process ${identity.pid} does not die`);
}

export interface Around {
  readonly identity: ProcessIdentity;
  readonly command: string;
}

/** Every process that names one of the folders on its command line or in its environment, or works in it. */
export async function processesAround(folders: readonly string[]): Promise<Around[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => lookAt(pid, folders)));
  return found.filter((process) => process !== undefined);
}

async function lookAt(pid: number, folders: readonly string[]): Promise<Around | undefined> {
  if (pid === process.pid) return undefined;
  const identity = identityOf(pid);
  const [command, environment, cwd] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
    readFile(`/proc/${pid}/environ`, "utf8").catch(() => ""),
    readlink(`/proc/${pid}/cwd`).catch(() => ""),
  ]);
  const isAround = folders.some((folder) =>
    [command, environment, cwd].some((text) => text.includes(folder)),
  );
  return isAround && identity !== undefined
    ? { identity, command: command.replaceAll("\0", " ").trim() }
    : undefined;
}
