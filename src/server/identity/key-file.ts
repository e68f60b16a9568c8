/**
 * Keys on disk.
 *
 * 1. Of any number of replicas that start at once on one folder, one makes the key and all use it.
 * 2. A key file that others on the machine can read is refused rather than used.
 */
import { lstat } from "node:fs/promises";
import { FairleadError } from "../../core/errors.ts";
import { createExclusive } from "../../host/durable-write.ts";
import { readBounded, readBoundedIfThere } from "../../host/files.ts";

const KEY_FILE_BYTES_MAX = 64 * 1024;
const OTHERS = 0o077;

export async function loadOrCreateKeyFile(
  path: string,
  make: () => Promise<string> | string,
): Promise<string> {
  const there = await readBoundedIfThere(path, KEY_FILE_BYTES_MAX);
  if (there === undefined) await createExclusive(path, await make()); // (1) who comes second reads the first one's
  await refuseReadableByOthers(path);
  return (there ?? (await readBounded(path, KEY_FILE_BYTES_MAX))).toString("utf8");
}

export async function loadKeyFile(path: string): Promise<string> {
  await refuseReadableByOthers(path);
  return (await readBounded(path, KEY_FILE_BYTES_MAX)).toString("utf8");
}

async function refuseReadableByOthers(path: string): Promise<void> {
  const { mode } = await lstat(path);
  if ((mode & OTHERS) === 0) return;
  throw new FairleadError("INVALID_INPUT", `${path} is readable by others: make its mode 0600`); // (2)
}
