/**
 * The signed bytes on disk.
 *
 * 1. A download lies under one name, `pending`, until a pointer names what came of it: killed before, the next start
 *    finds it. What is verified gets a file of its own, synced, before any pointer names it.
 * 2. What no pointer names is litter of a crash and is swept away.
 * 3. A file that cannot be read as a whole is like one that is not there: the pointer's digests decide.
 */
import { join } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import { removeDurable, writeDurable } from "../../host/durable-write.ts";
import { errnoOf } from "../../host/file-errors.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { readBoundedIfThere } from "../../host/files.ts";
import { FRAME_BYTES_MAX, type Layout } from "./layout.ts";

const UNREADABLE = new Set<string | undefined>(["PATH_REFUSED", "PAYLOAD_TOO_LARGE", "EIO", "EISDIR"]);

export type Frames = ReturnType<typeof openFrames>;

export function openFrames({ frames, pending }: Layout, fs: FileSystemPort) {
  const options = { mode: 0o600, soleWriter: true, fs };

  async function readIfWhole(path: string): Promise<Buffer | null> {
    try {
      return (await readBoundedIfThere(path, FRAME_BYTES_MAX, fs)) ?? null;
    } catch (error) {
      if (UNREADABLE.has(error instanceof FairleadError ? error.code : errnoOf(error))) return null; // (3)
      throw error;
    }
  }

  return {
    read: (file: string): Promise<Buffer | null> => readIfWhole(join(frames, file)),
    readPending: (): Promise<Buffer | null> => readIfWhole(pending),
    download: (bytes: Uint8Array): Promise<void> => writeDurable(pending, bytes, options), // (1)
    discard: (): Promise<void> => removeDurable(pending, fs),
    store: (file: string, bytes: Uint8Array): Promise<void> =>
      writeDurable(join(frames, file), bytes, options), // (1)
    async sweep(keep: readonly string[]): Promise<void> {
      for (const name of await fs.readdir(frames)) {
        if (!keep.includes(name)) await removeDurable(join(frames, name), fs); // (2)
      }
    },
  };
}
