/**
 * Backups are kept for whoever looks into a failure, but not for ever: each holds a whole program.
 * The newest stay, and so does the one that a reverse would need. They lie where the program may write:
 *
 * 1. Only folders of ours are looked into, each held open while it is worked in.
 * 2. Only files with names that a backup gives are removed; a folder that holds another stays.
 */
import { join } from "node:path";
import { z } from "zod";
import { isTemporaryName, removeDurable } from "../../../host/durable-write.ts";
import type { FileSystemPort } from "../../../host/file-system-port.ts";
import { readJsonIfThere } from "../../../host/files.ts";
import { inOwnFolder } from "./own-folder.ts";

const NEWEST_KEPT = 5;
const MANIFEST = "manifest.json";
const SAVED = /^(artifact|config-\d+|beside-[a-z-]+|manifest\.json)$/;
const Dated = z.object({ created_at: z.string() });

interface DatedBackup {
  readonly upgrade: string;
  readonly attempt: string;
  readonly created_at: string;
}

/** `needed` are folders as a `BackupRef` names them. */
export async function pruneBackups(
  root: string,
  needed: readonly string[],
  fs: FileSystemPort,
): Promise<void> {
  await inOwnFolder(root, fs, async (top) => {
    const newestFirst = (await datedIn(top, fs)).toSorted((left, right) =>
      left.created_at < right.created_at ? 1 : -1,
    );
    for (const { upgrade, attempt } of newestFirst.slice(NEWEST_KEPT)) {
      if (needed.includes(`${upgrade}/${attempt}`)) continue;
      await inOwnFolder(join(top, upgrade), fs, async (parent) => removeBackup(parent, attempt, fs));
    }
  });
}

async function datedIn(top: string, fs: FileSystemPort): Promise<DatedBackup[]> {
  const dated: DatedBackup[] = [];
  for (const upgrade of await fs.readdir(top)) {
    await inOwnFolder(join(top, upgrade), fs, async (parent) => {
      for (const attempt of await fs.readdir(parent)) {
        await inOwnFolder(join(parent, attempt), fs, async (path) => {
          // Half-written ones have no date and go first.
          const found = await readJsonIfThere(join(path, MANIFEST), Dated, fs).catch(() => undefined);
          dated.push({ upgrade, attempt, created_at: found?.created_at ?? "" });
        });
      }
    });
  }
  return dated;
}

async function removeBackup(parent: string, attempt: string, fs: FileSystemPort): Promise<void> {
  let isEmpty = false;
  await inOwnFolder(join(parent, attempt), fs, async (path) => {
    await removeDurable(join(path, MANIFEST), fs); // first: what a crash leaves of a backup must not look like one
    const names = await fs.readdir(path);
    const saved = names.filter((name) => SAVED.test(name) || isTemporaryName(name)); // (2)
    for (const name of saved) await fs.unlink(join(path, name));
    isEmpty = saved.length === names.length;
  });
  if (isEmpty) await fs.rmdir(join(parent, attempt));
}
