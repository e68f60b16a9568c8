/**
 * A checkpoint without an accepted job (SNAP-20, ROLL-5): its job was concluded on a disk that failed, or commanded to an
 * earlier identity of this machine, which was revoked. Nothing authorises its end, so it is taken back, which needs no
 * authority; a job that had ended is only tidied up. Left alone, its checkpoint would block every later upgrade and
 * every start of the program.
 */
import { FairleadError } from "../../core/errors.ts";
import type { ProfileId } from "../../core/ids.ts";
import type { UpgradeJob } from "../../core/upgrade/job.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { inputOf, readCheckpoint } from "./checkpoints.ts";

/** The job to run with `forbidForward`; null when nothing is left over. `accepted`: the jobs that the ledger still holds. */
export async function leftOverJob(
  profile: ProfileId,
  accepted: readonly UpgradeJob[],
  stateDir: string,
  fs?: FileSystemPort,
): Promise<UpgradeJob | null> {
  const checkpoint = await readCheckpoint(stateDir, profile, fs);
  if (checkpoint === undefined || accepted.some((job) => inputOf(job) === checkpoint.input)) return null;
  return checkpoint.job;
}

export function forbidForward(): never {
  throw new FairleadError("AUTHORITY_REVOKED", "no accepted command stands behind this upgrade any more");
}
