/** The disk of a host, filled to its last byte by one file. */
import { open } from "node:fs/promises";
import { errnoOf } from "../../../src/host/file-errors.ts";

const CHUNK = Buffer.alloc(4096, 1);

/** Space is there again when the file is removed. */
export async function fillDisk(path: string): Promise<void> {
  const file = await open(path, "a");
  try {
    for (;;) await file.write(CHUNK);
  } catch (error) {
    if (errnoOf(error) !== "ENOSPC") throw error;
  } finally {
    await file.close();
  }
}
