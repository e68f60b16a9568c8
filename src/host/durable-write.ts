/**
 * Writing so that a crash, a full disk or a power cut leaves the old bytes or the new ones, never a mixture.
 *
 * 1. New bytes are synced before they get their name, and the name is synced before anyone hears of success.
 * 2. A temporary file is made in the same folder, exclusively and through no link; on failure it is removed.
 * 3. A claim (`createExclusive`) appears with its whole content or not at all, and only once.
 */
import { createHash, randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { errnoOf, isMissing, withFileErrors } from "./file-errors.ts";
import {
  type FileSystemPort,
  OPEN_CREATE,
  OPEN_DIRECTORY,
  nodeFileSystem,
  type OpenFile,
} from "./file-system-port.ts";

export interface WriteOptions {
  /** Permission bits, independent of the umask. */
  readonly mode?: number;
  readonly owner?: { readonly uid: number; readonly gid: number };
  /**
   * For a file with one writer at a time: the temporary file's name derives from the file's own, so that what a crash
   * left behind is replaced by the next write instead of lying in somebody's folder for ever.
   */
  readonly soleWriter?: boolean;
  readonly fs?: FileSystemPort;
}

/** A durable write in pieces: for bytes that come from the network and are hashed on the way. */
export interface DurableWrite {
  write(bytes: Uint8Array): Promise<void>;
  commit(): Promise<void>;
  /** Removes what was written; after `commit` it does nothing. */
  abort(): Promise<void>;
}

const PRIVATE_MODE = 0o600;
const TEMPORARY = /^\.fairlead-[0-9a-f]{16}\.tmp$/;

/** Whether a name in a folder is a temporary file that a crash left behind. */
export const isTemporaryName = (name: string): boolean => TEMPORARY.test(name);

/** The temporary file of a sole writer. */
export const temporaryOf = (path: string): string =>
  join(
    dirname(path),
    `.fairlead-${createHash("sha256").update(basename(path)).digest("hex").slice(0, 16)}.tmp`,
  );

export async function writeDurable(
  path: string,
  bytes: Uint8Array | string,
  options: WriteOptions = {},
): Promise<void> {
  const writing = await beginDurableWrite(path, options);
  try {
    await writing.write(typeof bytes === "string" ? Buffer.from(bytes) : bytes);
    await writing.commit();
  } finally {
    await writing.abort();
  }
}

export async function beginDurableWrite(path: string, options: WriteOptions = {}): Promise<DurableWrite> {
  const fs = options.fs ?? nodeFileSystem;
  const doing = `writing ${path}`;
  const temporary = await openTemporary(path, options, doing);
  let state: "open" | "written" | "ended" = "open";
  return {
    write: async (bytes) => withFileErrors(doing, async () => temporary.file.write(bytes)),
    commit: async () =>
      withFileErrors(doing, async () => {
        await temporary.file.sync(); // (1)
        await temporary.file.close();
        state = "written";
        await fs.rename(temporary.path, path);
        state = "ended";
        await syncDirectory(dirname(path), fs); // (1)
      }),
    abort: async () => {
      const was = state;
      state = "ended";
      if (was === "open") await temporary.file.close();
      if (was !== "ended") await unlinkIfThere(temporary.path, fs); // (2)
    },
  };
}

export type Claim = { readonly kind: "created" } | { readonly kind: "exists" };

/** Claims a name for good: of any number of callers, over any number of crashes, one hears `created`. */
export async function createExclusive(
  path: string,
  bytes: Uint8Array | string,
  options: WriteOptions = {},
): Promise<Claim> {
  const fs = options.fs ?? nodeFileSystem;
  const doing = `claiming ${path}`;
  const temporary = await openTemporary(path, options, doing);
  try {
    return await withFileErrors<Claim>(doing, async () => {
      try {
        await temporary.file.write(typeof bytes === "string" ? Buffer.from(bytes) : bytes);
        await temporary.file.sync();
      } finally {
        await temporary.file.close();
      }
      try {
        await fs.link(temporary.path, path); // (3) unlike a rename, it never replaces
      } catch (error) {
        if (errnoOf(error) === "EEXIST") return { kind: "exists" };
        throw error;
      }
      await syncDirectory(dirname(path), fs);
      return { kind: "created" };
    });
  } finally {
    await unlinkIfThere(temporary.path, fs);
  }
}

/** Removes a file so that it stays removed; one that is not there is fine. */
export async function removeDurable(path: string, fs: FileSystemPort = nodeFileSystem): Promise<void> {
  await withFileErrors(`removing ${path}`, async () => {
    await unlinkIfThere(path, fs);
    await syncDirectory(dirname(path), fs).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  });
}

export async function syncDirectory(path: string, fs: FileSystemPort = nodeFileSystem): Promise<void> {
  const directory = await fs.open(path, OPEN_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function openTemporary(
  path: string,
  { mode = PRIVATE_MODE, owner, soleWriter = false, fs = nodeFileSystem }: WriteOptions,
  doing: string,
): Promise<{ path: string; file: OpenFile }> {
  const random = join(dirname(path), `.fairlead-${randomBytes(8).toString("hex")}.tmp`);
  const temporaryPath = soleWriter ? temporaryOf(path) : random;
  return withFileErrors(doing, async () => {
    if (soleWriter) await unlinkIfThere(temporaryPath, fs);
    const file = await fs.open(temporaryPath, OPEN_CREATE, PRIVATE_MODE); // (2)
    try {
      if (owner !== undefined) await file.chown(owner.uid, owner.gid);
      if (mode !== PRIVATE_MODE) await file.chmod(mode);
    } catch (error) {
      await file.close();
      await unlinkIfThere(temporaryPath, fs);
      throw error;
    }
    return { path: temporaryPath, file };
  });
}

async function unlinkIfThere(path: string, fs: FileSystemPort): Promise<void> {
  try {
    await fs.unlink(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
