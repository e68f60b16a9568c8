/**
 * Which bytes the unit's main process executes.
 *
 * 1. A binary is asked of the kernel: `/proc/PID/exe` is the file that runs, whatever lies at its path by now.
 * 2. A script's process is its interpreter. The script's bytes are those at the install path if that file has not
 *    changed since before the process began (its ctime, which nobody can set back, is older); and those that were
 *    measured when we started it, as long as it is still the same start. Otherwise nobody knows, and null says so.
 */
import { lstat, stat } from "node:fs/promises";
import type { Digest } from "../../../../core/ids.ts";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import { isMissing } from "../../../../host/file-errors.ts";
import { hashFollowing } from "../files/hash-following.ts";
import { hashFileIfThere, openRegular } from "../files/hash.ts";
import { ifThere } from "../files/if-there.ts";
import type { Started } from "./started.ts";
import type { UnitState } from "./unit-state.ts";

/** Times of files are coarser than systemd's: what is this close could be either. */
const TICK_MS = 10;

export interface ExecutedDeps {
  readonly procDir: string;
  readonly installPath: string;
  readonly fs: FileSystemPort;
}

export function executedBytes({ procDir, installPath, fs }: ExecutedDeps) {
  let last: { readonly key: string; readonly fingerprint: Digest } | undefined;

  /** Hashed once for each process and file: heartbeats ask often. */
  async function binary({ pid, invocation }: UnitState): Promise<Digest | null> {
    const exe = `${procDir}/${pid}/exe`;
    const file = await ifThere(stat(exe, { bigint: true }));
    if (file === null) return null;
    const key = [invocation, pid, file.dev, file.ino, file.size, file.mtimeNs, file.ctimeNs].join(".");
    if (last?.key === key) return last.fingerprint;
    const fingerprint = await hashFollowing(exe); // (1)
    if (fingerprint !== null) last = { key, fingerprint };
    return fingerprint;
  }

  return async function executed(state: UnitState, started: Started | undefined): Promise<Digest | null> {
    if (started?.invocation_id === state.invocation && started.script) return started.fingerprint; // (2)
    if (started?.invocation_id === state.invocation || !(await isScript(installPath, fs)))
      return binary(state);
    return (await isOlder(installPath, state.startedAtMs)) ? hashFileIfThere(installPath, fs) : null; // (2)
  };
}

/** False when there is no file. */
export async function isScript(path: string, fs: FileSystemPort): Promise<boolean> {
  const file = await openRegular(path, fs).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (file === undefined) return false;
  try {
    return (await file.read(2)).toString("latin1") === "#!";
  } finally {
    await file.close();
  }
}

async function isOlder(path: string, startedAtMs: number | null): Promise<boolean> {
  const file = await ifThere(lstat(path));
  return file !== null && startedAtMs !== null && file.ctimeMs < startedAtMs - TICK_MS;
}
