/**
 * A disk in memory with folders, which remembers after each operation what a power cut there would leave.
 *
 * Two disks are remembered each time: a strict one, which keeps only what was synced, names and bytes alike; and a
 * hasty one, which writes names down at once and bytes only when they are synced. Real ones lie between the two.
 */
import { constants } from "node:fs";
import { basename, dirname } from "node:path";
import type { EntryStat, FileSystemPort, OpenFile } from "../../../src/host/file-system-port.ts";

interface Inode {
  readonly id: number;
  bytes: Buffer;
  durable: Buffer;
}

/** Path to bytes. */
export type Disk = ReadonlyMap<string, Buffer>;

export interface Moment {
  readonly after: string;
  readonly strict: Disk;
  readonly hasty: Disk;
}

export interface PowerCutFileSystem extends FileSystemPort {
  /** One for each operation so far. */
  readonly moments: readonly Moment[];
}

/** It keeps no modes: `modeOf` says what a file has, by its path. */
export function powerCutFileSystem(
  first: Disk = new Map(),
  modeOf: (path: string) => number = () => 0o600,
): PowerCutFileSystem {
  let nextId = 1;
  const inodeOf = (bytes: Buffer): Inode => ({ id: nextId++, bytes, durable: bytes });
  const names = new Map([...first].map(([path, bytes]) => [path, inodeOf(bytes)] as const));
  const durableNames = new Map(names);
  const folders = new Set<string>(["/", ...[...first.keys()].flatMap(parentsOf)]);
  const moments: Moment[] = [];
  /** Folders that have another name, which is not synced yet. */
  const renamed: { readonly from: string; readonly to: string }[] = [];

  const disk = (of: ReadonlyMap<string, Inode>): Disk =>
    new Map([...of].map(([path, { durable }]) => [path, durable]));
  function done(after: string): void {
    moments.push({ after, strict: disk(durableNames), hasty: disk(names) });
  }
  function find(path: string): Inode {
    const inode = names.get(path);
    if (inode === undefined) throw systemError("ENOENT");
    return inode;
  }
  const statOf = (path: string, kind: EntryStat["kind"], sizeBytes: number, id: number): EntryStat => ({
    kind,
    sizeBytes,
    mode: modeOf(path),
    uid: process.getuid!(),
    gid: process.getgid!(),
    inode: String(id),
  });

  function openFile(path: string, inode: Inode): OpenFile {
    let readTo = 0;
    return {
      path,
      async write(bytes) {
        inode.bytes = Buffer.concat([inode.bytes, bytes]);
        done(`write ${path}`);
      },
      async read(bytesMax) {
        const chunk = inode.bytes.subarray(readTo, readTo + bytesMax);
        readTo += chunk.length;
        return chunk;
      },
      stat: async () => statOf(path, "file", inode.bytes.length, inode.id),
      chmod: async () => undefined,
      chown: async () => undefined,
      async sync() {
        inode.durable = inode.bytes;
        done(`sync ${path}`);
      },
      close: async () => undefined,
    };
  }

  const openFolder = (folder: string): OpenFile => ({
    ...openFile(folder, inodeOf(Buffer.alloc(0))),
    async sync() {
      const inside = (path: string) => dirname(path) === folder;
      for (const { from, to } of renamed.filter((one) => inside(one.to))) moveBelow(durableNames, from, to);
      for (const path of durableNames.keys()) if (inside(path)) durableNames.delete(path);
      for (const [path, inode] of names) if (inside(path)) durableNames.set(path, inode);
      done(`sync ${folder}`);
    },
  });

  return {
    moments,
    async open(path, flags) {
      if (folders.has(path)) return openFolder(path);
      if ((flags & constants.O_CREAT) === 0) return openFile(path, find(path));
      if (names.has(path)) throw systemError("EEXIST");
      names.set(path, { id: nextId++, bytes: Buffer.alloc(0), durable: Buffer.alloc(0) });
      done(`create ${path}`);
      return openFile(path, find(path));
    },
    async rename(from, to) {
      if (folders.has(from)) {
        moveBelow(names, from, to);
        renamed.push({ from, to });
        for (const folder of [...folders].filter((one) => `${one}/`.startsWith(`${from}/`))) {
          folders.delete(folder);
          folders.add(`${to}${folder.slice(from.length)}`);
        }
      } else {
        names.set(to, find(from));
        names.delete(from);
      }
      done(`rename ${to}`);
    },
    async link(existing, path) {
      if (names.has(path)) throw systemError("EEXIST");
      names.set(path, find(existing));
      done(`link ${path}`);
    },
    async unlink(path) {
      find(path);
      names.delete(path);
      done(`unlink ${path}`);
    },
    async mkdir(path) {
      if (folders.has(path)) throw systemError("EEXIST");
      if (!folders.has(dirname(path))) throw systemError("ENOENT");
      folders.add(path);
    },
    rmdir: async (path) => void folders.delete(path),
    readdir: async (path) =>
      [...names.keys()].filter((name) => dirname(name) === path).map((name) => basename(name)),
    lstat: async (path) =>
      folders.has(path)
        ? statOf(path, "directory", 0, 0)
        : statOf(path, "file", find(path).bytes.length, find(path).id),
  };
}

function moveBelow(names: Map<string, Inode>, from: string, to: string): void {
  for (const [path, inode] of [...names].filter(([one]) => one.startsWith(`${from}/`))) {
    names.delete(path);
    names.set(`${to}${path.slice(from.length)}`, inode);
  }
}

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [parent] : [parent, ...parentsOf(parent)];
}

const systemError = (errno: string): Error => Object.assign(new Error(errno), { code: errno });
