/**
 * Backups are kept for whoever looks into a failure, but not for ever: each holds a whole program.
 * The newest stay, and so does the one that a reverse would need.
 */
import { join } from "node:path";
import { z } from "zod";
import { removeDurable } from "../../../host/durable-write.ts";
import type { FileSystemPort } from "../../../host/file-system-port.ts";
import { readJsonIfThere } from "../../../host/files.ts";
import { resolveInside } from "../../../host/safe-path.ts";

const NEWEST_KEPT = 5;
const Dated = z.object({ created_at: z.string() });

/** `needed` are folders as a `BackupRef` names them. */
export async function pruneBackups(
  root: string,
  needed: readonly string[],
  fs: FileSystemPort,
): Promise<void> {
  const dated: { readonly folder: string; readonly created_at: string }[] = [];
  for (const upgrade of await fs.readdir(root)) {
    for (const attempt of await fs.readdir(await resolveInside(root, upgrade, fs))) {
      const folder = `${upgrade}/${attempt}`;
      const manifest = join(await resolveInside(root, folder, fs), "manifest.json");
      // Half-written ones have no date and go first.
      const found = await readJsonIfThere(manifest, Dated, fs).catch(() => undefined);
      dated.push({ folder, created_at: found?.created_at ?? "" });
    }
  }
  const newestFirst = dated.toSorted((left, right) => (left.created_at < right.created_at ? 1 : -1));
  for (const { folder } of newestFirst.slice(NEWEST_KEPT)) {
    if (!needed.includes(folder)) await removeFolder(await resolveInside(root, folder, fs), fs);
  }
}

/** The manifest goes first: what is left of a backup after a crash must not look like one. */
async function removeFolder(path: string, fs: FileSystemPort): Promise<void> {
  await removeDurable(join(path, "manifest.json"), fs);
  for (const name of await fs.readdir(path)) await fs.unlink(join(path, name));
  await fs.rmdir(path);
}
