/** A second terminal that speaks to the running demo: the `fairlead` command on its PATH, and whose operator it is. */
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { isDemoRunning } from "./children.ts";
import { FAIRLEAD } from "./command.ts";
import { homeIn } from "./folder.ts";

const binIn = (folder: string): string => join(folder, "bin");

export async function linkCommand(folder: string): Promise<void> {
  await mkdir(binIn(folder), { recursive: true, mode: 0o700 });
  await symlink(FAIRLEAD, join(binIn(folder), "fairlead"));
}

/** Lines for a POSIX shell to evaluate; null where no demo runs. */
export async function shellEnv(folder: string): Promise<string | null> {
  if (!(await isDemoRunning(folder))) return null;
  return [
    `export PATH=${quoted(binIn(folder))}:"$PATH"`,
    `export FAIRLEAD_HOME=${quoted(homeIn(folder))}`,
    `export FAIRLEAD_DEMO=${quoted(folder)}`,
    "",
  ].join("\n");
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
