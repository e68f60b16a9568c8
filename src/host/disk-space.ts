/** Whether a folder can still be written to: room as the file system tells it, and a write to be sure (quotas, IO errors). */
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { removeDurable, writeDurable } from "./durable-write.ts";
import { errnoOf } from "./file-errors.ts";
import { nodeFileSystem, type FileSystemPort } from "./file-system-port.ts";

const PROBE = ".space-probe";
const PROBE_BYTES = 4096;
const MIB = 1024 * 1024;

/** Null: there is room. Otherwise a sentence for an operator. */
export async function diskProblem(
  folder: string,
  freeBytesMin: number,
  fs: FileSystemPort = nodeFileSystem,
): Promise<string | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    if (free < freeBytesMin)
      return `${folder} has ${Math.floor(free / MIB)} MiB left; at least ${Math.ceil(freeBytesMin / MIB)} MiB are needed`;
    const path = join(folder, PROBE);
    await writeDurable(path, Buffer.alloc(PROBE_BYTES), { mode: 0o600, fs });
    await removeDurable(path, fs);
    return null;
  } catch (error) {
    return `${folder} cannot be written: ${errnoOf(error) ?? String(error)}`;
  }
}
