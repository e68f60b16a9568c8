/**
 * How far a job came, so that a restarted agent goes on or takes it back (ROLL-5, ROLL-6).
 *
 * 1. An action is marked in progress before it may change anything: after a crash it is in doubt, never unknown.
 * 2. A checkpoint belongs to one input: a job that differs in anything but its command cannot go on from it.
 * 3. One job per profile at a time.
 * 4. The agent itself may be upgraded in between: here as in its other files, unknown fields are ignored.
 */
import { join } from "node:path";
import { z } from "zod";
import type { ErrorCode } from "../../core/error-codes.ts";
import { isErrorCode } from "../../core/errors.ts";
import { Digest, Instant, type ProfileId } from "../../core/ids.ts";
import { UpgradeJob } from "../../core/upgrade/job.ts";
import { ActionName } from "../../core/upgrade/phases.ts";
import { removeDurable } from "../../host/durable-write.ts";
import { isMissing } from "../../host/file-errors.ts";
import { type FileSystemPort, nodeFileSystem } from "../../host/file-system-port.ts";
import { ensureDirectory, readJson, readJsonIfThere, writeJsonDurable } from "../../host/files.ts";
import { digestOfJson } from "../../trust/digest.ts";
import { BackupRef } from "./backup/manifest.ts";
import { Plan } from "./plan.ts";

export const Failure = z.object({
  code: z.custom<ErrorCode>(isErrorCode),
  message: z.string(),
  action: ActionName.nullable(),
});
export type Failure = z.infer<typeof Failure>;

export const Checkpoint = z.object({
  job: UpgradeJob,
  input: Digest,
  plan: Plan,
  started_at: Instant,
  done: z.array(ActionName),
  in_progress: ActionName.nullable(),
  facts: z.object({ backup: BackupRef.nullable() }),
  /** Set once the job is being taken back, and then never unset. */
  failure: Failure.nullable(),
  taken_back: z.array(ActionName),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** The command is how the job came, not what it is. */
export const inputOf = (job: UpgradeJob): Digest => digestOfJson({ ...job, command_id: undefined });

const folderOf = (stateDir: string): string => join(stateDir, "upgrades", "active");
const pathOf = (stateDir: string, profile: ProfileId): string => join(folderOf(stateDir), `${profile}.json`);

export async function readCheckpoint(
  stateDir: string,
  profile: ProfileId,
  fs: FileSystemPort = nodeFileSystem,
): Promise<Checkpoint | undefined> {
  return readJsonIfThere(pathOf(stateDir, profile), Checkpoint, fs);
}

/** The first one of a job: makes the folder, which every later one then finds. */
export async function beginCheckpoint(
  stateDir: string,
  checkpoint: Checkpoint,
  fs?: FileSystemPort,
): Promise<void> {
  await ensureDirectory(folderOf(stateDir), 0o700, fs);
  await saveCheckpoint(stateDir, checkpoint, fs);
}

export async function saveCheckpoint(
  stateDir: string,
  checkpoint: Checkpoint,
  fs: FileSystemPort = nodeFileSystem,
): Promise<void> {
  await writeJsonDurable(pathOf(stateDir, checkpoint.job.chain_profile_id), checkpoint, { fs });
}

export async function removeCheckpoint(
  stateDir: string,
  profile: ProfileId,
  fs: FileSystemPort = nodeFileSystem,
): Promise<void> {
  await removeDurable(pathOf(stateDir, profile), fs);
}

/** Jobs that a crash interrupted: call `runUpgrade` with each before anything else touches its program. */
export async function resumable(
  stateDir: string,
  fs: FileSystemPort = nodeFileSystem,
): Promise<UpgradeJob[]> {
  const names = await fs.readdir(folderOf(stateDir)).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const jobs: UpgradeJob[] = [];
  for (const name of names.filter((entry) => entry.endsWith(".json")).toSorted()) {
    jobs.push((await readJson(join(folderOf(stateDir), name), Checkpoint, fs)).job);
  }
  return jobs;
}
