/**
 * The real file system by synchronous calls: the same files and the same order of operations, without a thread to
 * wake for each of them. For sweeps of a million operations on a disk in memory, where the waking is what takes time.
 */
import * as fs from "node:fs";
import { entryStat, type FileSystemPort, type OpenFile } from "../../../src/host/file-system-port.ts";

export const syncFileSystem: FileSystemPort = {
  open: async (path, flags, mode) => openFile(fs.openSync(path, flags, mode)),
  rename: async (from, to) => fs.renameSync(from, to),
  link: async (existing, path) => fs.linkSync(existing, path),
  unlink: async (path) => fs.unlinkSync(path),
  mkdir: async (path, mode) => fs.mkdirSync(path, { mode }),
  rmdir: async (path) => fs.rmdirSync(path),
  readdir: async (path) => fs.readdirSync(path),
  lstat: async (path) => entryStat(fs.lstatSync(path)),
};

/** Most files are far smaller than what a reader asks for at once. */
const scratch = Buffer.allocUnsafe(256 * 1024);
const readInto = (fd: number, bytesMax: number): number =>
  fs.readSync(fd, scratch, 0, Math.min(bytesMax, scratch.length), null);

const openFile = (fd: number): OpenFile => ({
  path: `/proc/self/fd/${fd}`,
  write: async (bytes) => fs.writeFileSync(fd, bytes),
  read: async (bytesMax) => Buffer.from(scratch.subarray(0, readInto(fd, bytesMax))),
  stat: async () => entryStat(fs.fstatSync(fd)),
  chmod: async (mode) => fs.fchmodSync(fd, mode),
  chown: async (uid, gid) => fs.fchownSync(fd, uid, gid),
  sync: async () => fs.fsyncSync(fd),
  close: async () => fs.closeSync(fd),
});
