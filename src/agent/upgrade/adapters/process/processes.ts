/** The processes of one program, whoever started them: found by what the shim put into their environment. */
import { readdir, readFile, stat } from "node:fs/promises";
import { identityOf, isAlive, type ProcessIdentity } from "../../../../host/process-identity.ts";
import { FOLDER_ENV, INSTANCE_ENV } from "../../../shim/files.ts";

export interface FoundProcess {
  readonly identity: ProcessIdentity;
  readonly instance_id: string;
}

/** The program and whatever it forked. Another user's processes cannot be read and so are not ours. */
export async function findProcesses(folder: string): Promise<FoundProcess[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => belongsTo(folder, pid)));
  return found.filter((process) => process !== undefined);
}

async function belongsTo(folder: string, pid: number): Promise<FoundProcess | undefined> {
  const identity = identityOf(pid); // before the environment is read: a pid that changes hands in between is not alive
  const variables = await readFile(`/proc/${pid}/environ`, "utf8").then(
    (text) => text.split("\0"),
    () => [],
  );
  const instance_id = valueOf(variables, INSTANCE_ENV);
  if (identity === undefined || instance_id === undefined || valueOf(variables, FOLDER_ENV) !== folder)
    return undefined;
  return isAlive(identity) ? { identity, instance_id } : undefined;
}

const valueOf = (variables: readonly string[], name: string): string | undefined =>
  variables.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);

/** Device and inode of what a process executes; undefined when it is gone. */
export async function executableOf(pid: number): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(`/proc/${pid}/exe`);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
