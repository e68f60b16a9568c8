/** Digests of files by the piece: a binary of gigabytes passes through a few kilobytes of memory. */
import { createHash } from "node:crypto";
import { FairleadError } from "../../../../core/errors.ts";
import { Digest } from "../../../../core/ids.ts";
import { isMissing, withFileErrors } from "../../../../host/file-errors.ts";
import {
  type FileSystemPort,
  nodeFileSystem,
  OPEN_READ,
  type OpenFile,
} from "../../../../host/file-system-port.ts";

const CHUNK_BYTES = 256 * 1024;

/** Reads from where the descriptor stands to its end, handing each piece on before it asks for the next. */
export async function hashOpenFile(
  file: OpenFile,
  signal?: AbortSignal,
  onChunk?: (chunk: Uint8Array) => Promise<void>,
): Promise<Digest> {
  const hash = createHash("sha256");
  for (;;) {
    signal?.throwIfAborted();
    const chunk = await file.read(CHUNK_BYTES);
    if (chunk.length === 0) return Digest.parse(`sha256:${hash.digest("hex")}`);
    hash.update(chunk);
    await onChunk?.(chunk);
  }
}

/** Opens a regular file, never through a link: codes FILE_NOT_FOUND and PATH_REFUSED. The caller closes it. */
export async function openRegular(path: string, fs: FileSystemPort = nodeFileSystem): Promise<OpenFile> {
  return withFileErrors(`opening ${path}`, async () => {
    const file = await fs.open(path, OPEN_READ);
    if ((await file.stat()).kind === "file") return file;
    await file.close();
    throw new FairleadError("PATH_REFUSED", `${path} is not a regular file`);
  });
}

/** Null when there is no such file. */
export async function hashFileIfThere(
  path: string,
  fs?: FileSystemPort,
  signal?: AbortSignal,
): Promise<Digest | null> {
  let file: OpenFile;
  try {
    file = await openRegular(path, fs);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  try {
    return await hashOpenFile(file, signal);
  } finally {
    await file.close();
  }
}
