/**
 * The signed bytes on disk.
 *
 * 1. A download lies under one name, `pending`, until a pointer names what came of it: killed before, the next start
 *    finds it. What is verified gets a file of its own, synced, before any pointer names it.
 * 2. What no pointer names is litter of a crash and is swept away.
 * 3. A file that cannot be read as a whole is like one that is not there: the pointer's digests decide.
 * 4. A file that binds a start without the control plane is stored twice (ADR 25): one damaged copy is no loss.
 */
import { join } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import { removeDurable, writeDurable } from "../../host/durable-write.ts";
import { errnoOf } from "../../host/file-errors.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { readBoundedIfThere } from "../../host/files.ts";
import { FRAME_BYTES_MAX, type Layout } from "./layout.ts";

const UNREADABLE = new Set<string | undefined>(["PATH_REFUSED", "PAYLOAD_TOO_LARGE", "EIO", "EISDIR"]);

const copyOf = (file: string): string => `${file}.copy`;

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
    /** The file, or its copy, whichever is whole. */
    async read(file: string, isWhole: (bytes: Uint8Array) => boolean): Promise<Buffer | null> {
      for (const name of [file, copyOf(file)]) {
        const bytes = await readIfWhole(join(frames, name));
        if (bytes !== null && isWhole(bytes)) return bytes; // (4)
      }
      return null;
    },
    readPending: (): Promise<Buffer | null> => readIfWhole(pending),
    download: (bytes: Uint8Array): Promise<void> => writeDurable(pending, bytes, options), // (1)
    discard: (): Promise<void> => removeDurable(pending, fs),
    store: (file: string, bytes: Uint8Array): Promise<void> =>
      writeDurable(join(frames, file), bytes, options), // (1)
    /** (4) Writes only the copies that are not there as they should be. */
    async storeTwice(file: string, bytes: Uint8Array): Promise<void> {
      for (const path of [join(frames, file), join(frames, copyOf(file))])
        if ((await readIfWhole(path))?.equals(bytes) !== true) await writeDurable(path, bytes, options);
    },
    async sweep(keep: readonly string[]): Promise<void> {
      const kept = new Set(keep.flatMap((file) => [file, copyOf(file)]));
      for (const name of await fs.readdir(frames)) {
        if (!kept.has(name)) await removeDurable(join(frames, name), fs); // (2)
      }
    },
  };
}
