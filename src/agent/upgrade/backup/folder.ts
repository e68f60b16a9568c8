/**
 * Backups of one program, under `{data_dir}/.upgrade-backup/` (ROLL-9).
 *
 * 1. No component is a link, and every folder is private: the data folder belongs to the program, this does not. One
 *    that the program put in its place is refused.
 * 2. A folder of another job with the same name is moved aside, not mixed with and not removed.
 * 3. Nothing is read from a backup before its manifest and the file have the digests that were kept.
 */
import { basename, dirname, join } from "node:path";
import { FairleadError } from "../../../core/errors.ts";
import { syncDirectory, writeDurable } from "../../../host/durable-write.ts";
import type { FileSystemPort } from "../../../host/file-system-port.ts";
import { ensureDirectory, readBounded, readBoundedIfThere } from "../../../host/files.ts";
import type { Logger } from "../../../host/log.ts";
import { resolveInside } from "../../../host/safe-path.ts";
import { digestOf } from "../../../trust/digest.ts";
import { Backup, type BackupRef } from "./manifest.ts";
import { refuseStrange } from "./own-folder.ts";
import { pruneBackups } from "./prune.ts";

const ROOT = ".upgrade-backup";
const MANIFEST = "manifest.json";
const MANIFEST_BYTES_MAX = 256 * 1024;

export interface BackupFolder {
  /** A folder without a manifest, whatever lay there before. */
  begin(folder: string): Promise<string>;
  /** Removes what is old and not `needed`, as far as it can be removed. */
  prune(needed: readonly string[]): Promise<void>;
  finish(folder: string, backup: Backup): Promise<BackupRef>;
  read(ref: BackupRef): Promise<{ readonly path: string; readonly backup: Backup }>;
}

export interface BackupFolderDeps {
  readonly dataDir: string;
  readonly fs: FileSystemPort;
  readonly log: Pick<Logger, "warn">;
}

export function backupFolder({ dataDir, fs, log }: BackupFolderDeps): BackupFolder {
  const resolve = async (folder: string): Promise<string> => resolveInside(dataDir, `${ROOT}/${folder}`, fs); // (1)

  async function manifestOf(folder: string): Promise<Buffer | undefined> {
    return readBoundedIfThere(join(await resolve(folder), MANIFEST), MANIFEST_BYTES_MAX, fs);
  }

  return {
    async begin(folder) {
      const path = await resolve(folder);
      await refuseStrange(join(dataDir, ROOT), fs); // (1)
      if ((await manifestOf(folder)) !== undefined) await setAside(path, fs); // (2)
      await ensureDirectory(path, 0o700, fs);
      return path;
    },
    async prune(needed) {
      try {
        await pruneBackups(join(dataDir, ROOT), needed, fs);
      } catch (error) {
        log.warn("old backups not removed", { data_dir: dataDir, error }); // no reason to fail an upgrade
      }
    },
    async finish(folder, backup) {
      const bytes = Buffer.from(JSON.stringify(backup, undefined, 2));
      await writeDurable(join(await resolve(folder), MANIFEST), bytes, { fs, soleWriter: true });
      return { folder, manifest: digestOf(bytes) };
    },
    async read({ folder, manifest }) {
      try {
        const path = await resolve(folder);
        const bytes = await readBounded(join(path, MANIFEST), MANIFEST_BYTES_MAX, fs);
        const backup = digestOf(bytes) === manifest ? parse(bytes) : undefined; // (3)
        if (backup !== undefined) return { path, backup };
      } catch (error) {
        if (!(error instanceof FairleadError)) throw error;
        throw corrupt(folder, error.message);
      }
      throw corrupt(folder, "its manifest is not the one that was written");
    },
  };
}

function parse(bytes: Buffer): Backup | undefined {
  try {
    return Backup.safeParse(JSON.parse(bytes.toString("utf8"))).data;
  } catch {
    return undefined;
  }
}

async function setAside(path: string, fs: FileSystemPort): Promise<void> {
  const taken = new Set(await fs.readdir(dirname(path)));
  const names = Array.from({ length: taken.size + 1 }, (_, n) => `${basename(path)}.old-${n + 1}`);
  await fs.rename(
    path,
    join(
      dirname(path),
      names.find((name) => !taken.has(name))!,
    ),
  );
  await syncDirectory(dirname(path), fs);
}

export const corrupt = (folder: string, why: string): FairleadError =>
  new FairleadError("BACKUP_CORRUPT", `backup ${folder}: ${why}`);
