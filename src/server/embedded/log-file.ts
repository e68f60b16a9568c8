/** A program's own log: appended to, with one older generation, so that it cannot fill the disk over restarts. */
import { type FileHandle, open, rename, stat } from "node:fs/promises";
import { isMissing } from "../../host/file-errors.ts";

const LOG_BYTES_MAX = 8 * 1024 * 1024;
const TAIL_BYTES = 2_048;

export async function openLogFile(path: string): Promise<FileHandle> {
  if ((await sizeOf(path)) > LOG_BYTES_MAX) await rename(path, `${path}.1`);
  return open(path, "a", 0o600);
}

/** The end of it, for the message that says why a program did not start. */
export async function tailOfLog(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(TAIL_BYTES),
      0,
      TAIL_BYTES,
      Math.max(0, size - TAIL_BYTES),
    );
    return buffer.toString("utf8", 0, bytesRead).trim();
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
