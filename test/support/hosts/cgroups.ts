/** A control group for each host, in both trees: what lives in it is the host's, and ends with it. */
import { mkdir, readdir, readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { identityOf, killProcess, waitForExit } from "../../../src/host/process-identity.ts";

export const CGROUP_ROOTS = ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"];
const GONE_WITHIN_MS = 10_000;

const foldersOf = (name: string): string[] => CGROUP_ROOTS.map((root) => join(root, name));

/** The files that a process writes its pid into to be of the host. */
export async function makeCgroups(name: string): Promise<string[]> {
  for (const folder of foldersOf(name)) await mkdir(folder, { recursive: true });
  return foldersOf(name).map((folder) => join(folder, "cgroup.procs"));
}

export async function removeCgroups(name: string): Promise<void> {
  for (const folder of foldersOf(name)) {
    await endProcesses(folder);
    await removeTree(folder);
  }
}

async function endProcesses(folder: string): Promise<void> {
  const below = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const folders = below
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  const lists = await Promise.all([folder, ...folders].map(pidsIn));
  for (const identity of lists.flat().map(identityOf)) {
    if (identity === undefined) continue;
    killProcess(identity, "SIGKILL");
    if ((await waitForExit(identity, GONE_WITHIN_MS)) === "alive")
      throw new Error(`process ${identity.pid} of ${folder} does not die`);
  }
}

async function pidsIn(folder: string): Promise<number[]> {
  const text = await readFile(join(folder, "cgroup.procs"), "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "" && line !== "0")
    .map(Number);
}

/** A group can be removed when those below it are; the files in it go by themselves. */
async function removeTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return;
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(folder, entry.name));
  for (let tries = 1; ; tries += 1) {
    try {
      return await rmdir(folder);
    } catch (error) {
      if (tries === 50) throw error; // the kernel lets go of the last process a moment after it is gone
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}
