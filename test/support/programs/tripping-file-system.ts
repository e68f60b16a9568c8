/** The real file system, with a trap at one of its operations: an error there, or the end of everything. */
import { type FileSystemPort, nodeFileSystem, type OpenFile } from "../../../src/host/file-system-port.ts";

export type Trap = (operation: string, index: number) => Promise<void> | void;

/** Calls `trap` before each operation that changes something, as `rename /to`, with its number. */
export function trippingFileSystem(trap: Trap, disk = nodeFileSystem): FileSystemPort {
  let count = 0;
  const step = async (operation: string): Promise<void> => trap(operation, count++);
  const file = (path: string, real: OpenFile): OpenFile => ({
    ...real,
    write: async (bytes) => (await step(`write ${path}`), real.write(bytes)),
    sync: async () => (await step(`sync ${path}`), real.sync()),
    chmod: async (mode) => (await step(`chmod ${path}`), real.chmod(mode)),
  });
  return {
    ...disk,
    open: async (path, flags, mode) => file(path, await disk.open(path, flags, mode)),
    rename: async (from, to) => (await step(`rename ${to}`), disk.rename(from, to)),
    link: async (existing, path) => (await step(`link ${path}`), disk.link(existing, path)),
    unlink: async (path) => (await step(`unlink ${path}`), disk.unlink(path)),
    mkdir: async (path, mode) => (await step(`mkdir ${path}`), disk.mkdir(path, mode)),
  };
}

export const systemError = (errno: string): Error => Object.assign(new Error(errno), { code: errno });

/** Nothing works any more from that operation on: as far as the disk can tell, the process was killed there. */
export function diesAt(index: number): Trap {
  return (operation, n) => {
    if (n >= index) throw new Error(`dead before ${operation}`);
  };
}

export function failsOnceAt(index: number, errno: string): Trap {
  return (_, n) => {
    if (n === index) throw systemError(errno);
  };
}
