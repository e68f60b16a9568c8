/**
 * A disk in memory that forgets, at a crash, all that was never synced: a file's bytes until the file is synced, a
 * folder's names until the folder is. Stricter than any real one, and exact about where it may stop.
 */
import type { EntryStat, FileSystemPort, OpenFile } from "../../../src/host/file-system-port.ts";
import { constants } from "node:fs";
import { basename, dirname } from "node:path";

interface Inode {
  readonly id: number;
  bytes: Buffer;
  durable: Buffer;
}
type Names = Map<string, Inode>;

export interface CrashingFileSystem extends FileSystemPort {
  /** Each operation so far, in order, as `write /a/b`. */
  readonly operations: readonly string[];
  /** What a machine finds after losing its power now. */
  afterCrash(): Map<string, string>;
  now(): Map<string, string>;
}

export class PowerLost extends Error {}

export interface CrashPlan {
  /** Loses power before the operation with this number, counted from 0. */
  readonly stopBefore?: number;
  /** Answers with this error in place of the operations that match. */
  readonly fail?: { readonly on: RegExp; readonly errno: string };
}

export function crashingFileSystem(folder: string, plan: CrashPlan = {}): CrashingFileSystem {
  const names: Names = new Map();
  const durableNames: Names = new Map();
  const operations: string[] = [];
  let nextId = 1;

  function step(operation: string): void {
    if (operations.length === plan.stopBefore) throw new PowerLost();
    operations.push(operation);
    if (plan.fail?.on.test(operation) === true) throw systemError(plan.fail.errno);
  }
  function find(path: string): Inode {
    const inode = names.get(path);
    if (inode === undefined) throw systemError("ENOENT");
    return inode;
  }
  const statOf = (inode: Inode): EntryStat => ({
    kind: "file",
    sizeBytes: inode.bytes.length,
    mode: 0o600,
    uid: 0,
    gid: 0,
    inode: String(inode.id),
  });

  function openFile(path: string, inode: Inode): OpenFile {
    let readTo = 0;
    return {
      path,
      write: async (bytes) => {
        step(`write ${path}`);
        inode.bytes = Buffer.concat([inode.bytes, bytes]);
      },
      read: async (bytesMax) => {
        const chunk = inode.bytes.subarray(readTo, readTo + bytesMax);
        readTo += chunk.length;
        return chunk;
      },
      stat: async () => statOf(inode),
      chmod: async () => step(`chmod ${path}`),
      chown: async () => step(`chown ${path}`),
      sync: async () => {
        step(`sync ${path}`);
        inode.durable = inode.bytes;
      },
      close: async () => undefined,
    };
  }

  const directory: OpenFile = {
    ...openFile(folder, { id: 0, bytes: Buffer.alloc(0), durable: Buffer.alloc(0) }),
    sync: async () => {
      step(`sync ${folder}`);
      durableNames.clear();
      for (const [name, inode] of names) durableNames.set(name, inode);
    },
  };
  const contents = (of: Names, bytes: "bytes" | "durable"): Map<string, string> =>
    new Map([...of].map(([path, inode]) => [basename(path), inode[bytes].toString()]));

  return {
    operations,
    now: () => contents(names, "bytes"),
    afterCrash: () => contents(durableNames, "durable"),
    async open(path, flags) {
      if (path === folder) return directory;
      if ((flags & constants.O_CREAT) === 0) return openFile(path, find(path));
      step(`create ${path}`);
      if (names.has(path)) throw systemError("EEXIST");
      const inode = { id: nextId++, bytes: Buffer.alloc(0), durable: Buffer.alloc(0) };
      names.set(path, inode);
      return openFile(path, inode);
    },
    async rename(from, to) {
      step(`rename ${to}`);
      const inode = find(from);
      names.delete(from);
      names.set(to, inode);
    },
    async link(existing, path) {
      step(`link ${path}`);
      if (names.has(path)) throw systemError("EEXIST");
      names.set(path, find(existing));
    },
    async unlink(path) {
      step(`unlink ${path}`);
      find(path);
      names.delete(path);
    },
    mkdir: async (path) => step(`mkdir ${path}`),
    rmdir: async (path) => step(`rmdir ${path}`),
    readdir: async (path) =>
      [...names.keys()].filter((name) => dirname(name) === path).map((name) => basename(name)),
    lstat: async (path) => statOf(find(path)),
  };
}

const systemError = (errno: string): Error => Object.assign(new Error(errno), { code: errno });
