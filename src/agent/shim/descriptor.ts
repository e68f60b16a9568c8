/**
 * Bytes that were verified are the bytes that run, for scripts too.
 *
 * 1. The file is opened once, through no link, and hashed through that descriptor; the program is executed through
 *    the same descriptor. Whatever happens to the path in between does not matter.
 * 2. An interpreter gets the descriptor's path as its script. One that resolves it back to a name (Node does, unless
 *    told `--preserve-symlinks-main`) would read the path again: such scripts name that flag in their first line.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { FairleadError } from "../../core/errors.ts";
import { Digest } from "../../core/ids.ts";
import { withFileErrors } from "../../host/file-errors.ts";
import { spawnChild, type SpawnOptions } from "../../host/process.ts";

const CHUNK_BYTES = 256 * 1024;
const PROGRAM_FD = 3;

export interface VerifiedProgram {
  readonly fd: number;
  /** Device and inode; null for a script. */
  readonly executable: string | null;
  /** Hashes the descriptor again: someone may have written into the file itself. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** Codes: FILE_NOT_FOUND, PATH_REFUSED, ARTIFACT_DIGEST_MISMATCH. */
export async function openVerified(path: string, fingerprint: Digest): Promise<VerifiedProgram> {
  const file = await withFileErrors(`opening ${path}`, async () =>
    open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
  );
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new FairleadError("PATH_REFUSED", `${path} is not a regular file`);
    const program: VerifiedProgram = {
      fd: file.fd,
      executable: (await isScript(file)) ? null : `${stat.dev}:${stat.ino}`,
      verify: async () => expectDigest(file, path, fingerprint),
      close: async () => file.close(),
    };
    await program.verify();
    return program;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The child finds the program at descriptor 3 and is executed from there. */
export async function spawnVerified(
  program: VerifiedProgram,
  args: readonly string[],
  options: SpawnOptions,
) {
  const stdio = ["ignore", "pipe", "pipe", program.fd] as ("ignore" | "pipe" | number)[];
  return spawnChild(`/proc/self/fd/${PROGRAM_FD}`, args, { ...options, stdio }); // (1)
}

async function expectDigest(file: FileHandle, path: string, fingerprint: Digest): Promise<void> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  const found = Digest.parse(`sha256:${hash.digest("hex")}`);
  if (found !== fingerprint) throw new FairleadError("ARTIFACT_DIGEST_MISMATCH", `${path} is ${found}`);
}

async function isScript(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer.toString("latin1") === "#!";
}
