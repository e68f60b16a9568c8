/**
 * The few file operations that durable state is made of, as a port: a test records them, drops what was never
 * synced and replays every prefix, or answers ENOSPC and EIO where a disk would.
 */
import { constants } from "node:fs";
import * as fs from "node:fs/promises";

export interface OpenFile {
  /** Leads to this very file or folder, wherever the name it was opened by leads by now. */
  readonly path: string;
  /** Writes all of `bytes` at the end of what was written before. */
  write(bytes: Uint8Array): Promise<void>;
  /** Reads on from the last read, at most `bytesMax`; an empty buffer is the end. */
  read(bytesMax: number): Promise<Buffer>;
  stat(): Promise<EntryStat>;
  chmod(mode: number): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface EntryStat {
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly sizeBytes: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Device and inode: the same file under whatever name, as long as someone holds it open. */
  readonly inode: string;
}

export interface FileSystemPort {
  open(path: string, flags: number, mode?: number): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  link(existing: string, path: string): Promise<void>;
  unlink(path: string): Promise<void>;
  mkdir(path: string, mode: number): Promise<void>;
  rmdir(path: string): Promise<void>;
  readdir(path: string): Promise<string[]>;
  lstat(path: string): Promise<EntryStat>;
}

/** A link at the last place is refused, and a FIFO there cannot hang the open. */
export const OPEN_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
export const OPEN_CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
export const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY;
export const OPEN_DIRECTORY_ITSELF = OPEN_DIRECTORY | constants.O_NOFOLLOW;

export const nodeFileSystem: FileSystemPort = {
  open: async (path, flags, mode) => openFile(await fs.open(path, flags, mode)),
  rename: fs.rename,
  link: fs.link,
  unlink: fs.unlink,
  mkdir: async (path, mode) => {
    await fs.mkdir(path, { mode });
  },
  rmdir: async (path) => fs.rmdir(path),
  readdir: async (path) => fs.readdir(path),
  lstat: async (path) => entryStat(await fs.lstat(path)),
};

function openFile(handle: fs.FileHandle): OpenFile {
  return {
    path: `/proc/self/fd/${handle.fd}`,
    // `writeFile` on a handle goes on until every byte is written; `write` may stop short.
    write: async (bytes) => handle.writeFile(bytes),
    read: async (bytesMax) => {
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(bytesMax), 0, bytesMax);
      return buffer.subarray(0, bytesRead);
    },
    stat: async () => entryStat(await handle.stat()),
    chmod: async (mode) => handle.chmod(mode),
    chown: async (uid, gid) => handle.chown(uid, gid),
    sync: async () => handle.sync(),
    close: async () => handle.close(),
  };
}

export function entryStat(stats: Awaited<ReturnType<typeof fs.lstat>>): EntryStat {
  const kind = stats.isFile()
    ? "file"
    : stats.isDirectory()
      ? "directory"
      : stats.isSymbolicLink()
        ? "symlink"
        : "other";
  return {
    kind,
    sizeBytes: Number(stats.size),
    mode: Number(stats.mode) & 0o7777,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    inode: `${stats.dev}:${stats.ino}`,
  };
}
