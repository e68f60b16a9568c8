/** Verdicts by (rollout, node, direction, attempt): a job that ended is answered from here and never run again (ROLL-6). */
import { join } from "node:path";
import { z } from "zod";
import { Digest, Instant } from "../../core/ids.ts";
import type { UpgradeJob } from "../../core/upgrade/job.ts";
import { AgentVerdict } from "../../core/upgrade/phases.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { ensureDirectory, readJsonIfThere, writeJsonDurable } from "../../host/files.ts";
import { Failure } from "./checkpoints.ts";

export const UpgradeOutcome = z.object({
  verdict: AgentVerdict,
  error: Failure.nullable(),
  /** Whether the node is as it was before. */
  compensated: z.boolean(),
  started_at: Instant,
  ended_at: Instant,
  instance_id: z.string().max(200).nullable(),
});
export type UpgradeOutcome = z.infer<typeof UpgradeOutcome>;

const Completed = z.object({ input: Digest, outcome: UpgradeOutcome });
export type Completed = z.infer<typeof Completed>;

const folderOf = (stateDir: string): string => join(stateDir, "upgrades", "completed");
const pathOf = (stateDir: string, { rollout_id, node_id, direction, attempt }: UpgradeJob): string =>
  join(folderOf(stateDir), `${rollout_id}.${node_id}.${direction}.${attempt}.json`);

export async function findCompleted(
  stateDir: string,
  job: UpgradeJob,
  fs?: FileSystemPort,
): Promise<Completed | undefined> {
  return readJsonIfThere(pathOf(stateDir, job), Completed, fs);
}

export async function storeCompleted(
  stateDir: string,
  job: UpgradeJob,
  completed: Completed,
  fs?: FileSystemPort,
): Promise<void> {
  await ensureDirectory(folderOf(stateDir), 0o700, fs);
  await writeJsonDurable(pathOf(stateDir, job), completed, fs === undefined ? {} : { fs });
}
