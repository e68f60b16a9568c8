/**
 * Which state each profile is in and which it was in before: the only place a rollback may go to.
 *
 * 1. Written once per job: a job that is finished again after a crash does not shift `previous` a second time.
 * 2. A record that could not be written whole is not there: its job is taken back, and what was activated is the old one.
 */
import { join } from "node:path";
import { z } from "zod";
import { Digest, type ProfileId, Version } from "../../core/ids.ts";
import { ConfigPath, ConfigRef, RunSpec } from "../../core/upgrade/job.ts";
import { removeDurable } from "../../host/durable-write.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { ensureDirectory, readJsonIfThere, writeJsonDurable } from "../../host/files.ts";
import { BackupRef } from "./backup/manifest.ts";

export const Activation = z.object({
  fingerprint: Digest,
  version: Version.nullable(),
  run: RunSpec,
  configs: z.array(ConfigRef),
  absent: z.array(ConfigPath),
  url: z.string().max(2048).nullable(),
  /** Null for what was found on the machine. */
  rollout_id: z.string().max(100).nullable(),
  /** Where its bytes were saved when it was replaced. */
  backup: BackupRef.nullable(),
});
export type Activation = z.infer<typeof Activation>;

export const ActivationRecord = z.object({
  /** The job that led to `current`. */
  key: z.string().max(200),
  current: Activation,
  previous: Activation.nullable(),
});
export type ActivationRecord = z.infer<typeof ActivationRecord>;

const pathOf = (stateDir: string, profile: ProfileId): string =>
  join(stateDir, "upgrades", "activations", `${profile}.json`);

export async function readActivation(
  stateDir: string,
  profile: ProfileId,
  fs?: FileSystemPort,
): Promise<ActivationRecord | null> {
  return (await readJsonIfThere(pathOf(stateDir, profile), ActivationRecord, fs)) ?? null;
}

export async function writeActivation(
  stateDir: string,
  profile: ProfileId,
  record: ActivationRecord,
  fs?: FileSystemPort,
): Promise<void> {
  const before = await readActivation(stateDir, profile, fs);
  if (before?.key === record.key) return; // (1)
  const path = pathOf(stateDir, profile);
  const write = async (one: ActivationRecord): Promise<void> =>
    writeJsonDurable(path, one, fs === undefined ? {} : { fs });
  await ensureDirectory(join(stateDir, "upgrades", "activations"), 0o700, fs);
  try {
    await write(record);
  } catch (error) {
    // A disk that fails at the last sync has the new name already. (2) Should this fail too, the first failure is the
    // one to tell, and the program is found drifted and not started: nothing runs that nobody vouches for.
    await (before === null ? removeDurable(path, fs) : write(before)).catch(() => undefined);
    throw error;
  }
}
