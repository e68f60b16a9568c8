/**
 * Taking a lab away, also one whose test was killed: its processes, its mounts, its network and its folder.
 * A process belongs to a lab when its command names the lab's folder or when it is in the lab's control group.
 */
import { readdir, readFile, rm, rmdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isMissing } from "../../../src/host/file-errors.ts";
import { readJsonIfThere } from "../../../src/host/files.ts";
import { run } from "../../../src/host/process.ts";
import {
  identityOf,
  isAlive,
  killProcess,
  ProcessIdentity,
  waitForExit,
} from "../../../src/host/process-identity.ts";

const PREFIX = "fairlead-docker-";
export const LAB_FOLDER = join(tmpdir(), PREFIX);
export const OWNER_FILE = "owner.json";
const COMMAND_TIMEOUT_MS = 10_000;
const NAMELESS_MS = 30_000;
const CGROUPS = "/sys/fs/cgroup";

/** Network namespace and control group are named after the folder. */
export const nameOf = (folder: string): string => basename(folder);

export async function removeLeftOverLabs(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (name.startsWith(PREFIX) && !(await isOwned(join(tmpdir(), name))))
      await removeLab(join(tmpdir(), name));
  }
}

async function isOwned(folder: string): Promise<boolean> {
  const owner = await readJsonIfThere(join(folder, OWNER_FILE), ProcessIdentity).catch(() => undefined);
  if (owner !== undefined) return isAlive(owner);
  // Somebody may just be about to write his name.
  try {
    return Date.now() - (await stat(folder)).birthtimeMs < NAMELESS_MS;
  } catch (error) {
    if (isMissing(error)) return true; // it has just gone by itself
    throw error;
  }
}

export async function removeLab(folder: string): Promise<void> {
  await endProcesses(
    async (pid) => (await names(pid, `${folder}/`)) || (await isInGroup(pid, nameOf(folder))),
  );
  for (const path of await mountsUnder(folder)) await unmount(path);
  await command("ip", ["netns", "delete", nameOf(folder)]);
  await removeControlGroups(nameOf(folder));
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Whose command names this path. */
export const endProcessesNaming = async (path: string): Promise<void> =>
  endProcesses(async (pid) => names(pid, path));

async function endProcesses(isMeant: (pid: number) => Promise<boolean>): Promise<void> {
  for (let left = await find(isMeant); left.length > 0; left = await find(isMeant)) {
    for (const identity of left) killProcess(identity, "SIGKILL");
    await Promise.all(left.map(async (identity) => waitForExit(identity, COMMAND_TIMEOUT_MS)));
  }
}

async function find(isMeant: (pid: number) => Promise<boolean>): Promise<ProcessIdentity[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const others = pids.filter((pid) => pid !== process.pid);
  const found = await Promise.all(
    others.map(async (pid) => ((await isMeant(pid)) ? identityOf(pid) : undefined)),
  );
  return found.filter((identity) => identity !== undefined).filter(isAlive);
}

const about = async (pid: number, file: string): Promise<string> =>
  readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
const names = async (pid: number, path: string): Promise<boolean> =>
  (await about(pid, "cmdline")).includes(path);
const isInGroup = async (pid: number, group: string): Promise<boolean> =>
  (await about(pid, "cgroup")).includes(`/${group}/`);

/** Deepest first. */
export async function mountsUnder(folder: string): Promise<string[]> {
  const paths = (await readFile("/proc/self/mountinfo", "utf8"))
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "");
  return paths.filter((path) => path.startsWith(`${folder}/`)).toReversed();
}

export const unmount = (path: string): Promise<void> => command("umount", ["--lazy", path]);

async function removeControlGroups(name: string): Promise<void> {
  for (const controller of await readdir(CGROUPS)) await removeTree(join(CGROUPS, controller, name));
}

/** A control group's files go with it: only folders are removed. */
async function removeTree(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(path, entry.name));
  await rmdir(path).catch(() => undefined);
}

/** What is gone already is what was wanted. */
async function command(file: string, args: readonly string[]): Promise<void> {
  await run(file, args, { timeoutMs: COMMAND_TIMEOUT_MS });
}
