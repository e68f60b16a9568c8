/**
 * An upgrade that was commanded to an earlier identity of this machine (SNAP-20). The command, its intent and its
 * assignment name a node that was revoked, so nothing authorises its end: it is marked as failed, and running it then
 * only takes it back, which needs no authority. Left alone, its checkpoint would block every later upgrade and every
 * start of the program.
 */
import type { NodeId, ProfileId } from "../../core/ids.ts";
import type { UpgradeJob } from "../../core/upgrade/job.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { type Failure, readCheckpoint, saveCheckpoint } from "./checkpoints.ts";
import { endOf } from "./ended.ts";

/** The job to run to its end; null when there is none. */
export async function failEarlierIdentity(
  profile: ProfileId,
  nodeId: NodeId,
  stateDir: string,
  fs?: FileSystemPort,
): Promise<UpgradeJob | null> {
  const checkpoint = await readCheckpoint(stateDir, profile, fs);
  if (checkpoint === undefined || checkpoint.job.node_id === nodeId) return null;
  const { job, failure } = checkpoint;
  const isUnderWay = failure === null && (await endOf(stateDir, checkpoint, fs)) === null;
  if (isUnderWay) await saveCheckpoint(stateDir, { ...checkpoint, failure: revoked(job.node_id) }, fs);
  return job;
}

const revoked = (nodeId: string): Failure => ({
  code: "AUTHORITY_REVOKED",
  message: `this machine was node ${nodeId} when the upgrade began, and has enrolled again since`,
  action: null,
});
