/**
 * What a job comes down to on this node.
 *
 * 1. A reverse goes to the recorded previous state and nowhere else, whatever the job says besides (SNAP-16).
 */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import {
  ArtifactRef,
  ConfigPath,
  ConfigRef,
  jobKey,
  RunSpec,
  type UpgradeJob,
} from "../../core/upgrade/job.ts";
import type { ActivationRecord } from "./activations.ts";
import { BackupRef } from "./backup/manifest.ts";

export const Plan = z.object({
  key: z.string().max(200),
  backup_folder: z.string().max(255),
  artifact: ArtifactRef,
  run: RunSpec,
  configs: z.array(ConfigRef),
  /** Config files that must not be there afterwards. */
  absent: z.array(ConfigPath),
  /** Where the bytes may still lie; the network is the second choice. */
  kept_in: BackupRef.nullable(),
  /** The backup that a reverse needs if this job fails. */
  needed_backup: z.string().nullable().default(null),
});
export type Plan = z.infer<typeof Plan>;

export function planOf(job: UpgradeJob, record: ActivationRecord | null): Plan {
  const key = jobKey(job);
  const needed_backup = record?.previous?.backup?.folder ?? null;
  const backup_folder = `${job.upgrade_id ?? job.rollout_id}/${job.direction}.${job.attempt}`;
  if (job.direction === "forward") {
    const { artifact, run, configs } = job;
    return { key, backup_folder, artifact, run, configs, absent: [], kept_in: null, needed_backup };
  }
  const previous = record?.previous ?? null;
  if (previous === null)
    throw new FairleadError("ROLLBACK_REFUSED", "no previous state is recorded for this profile");
  if (previous.fingerprint !== job.artifact.fingerprint) {
    throw new FairleadError("ROLLBACK_REFUSED", `the recorded previous state is ${previous.fingerprint}`); // (1)
  }
  const { run, configs, absent, backup } = previous;
  const url = previous.url ?? job.artifact.url;
  return {
    key,
    backup_folder,
    artifact: { ...job.artifact, url },
    run,
    configs,
    absent,
    kept_in: backup,
    needed_backup,
  };
}
