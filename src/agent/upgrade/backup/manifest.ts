/**
 * What a job replaced, so that it can come back (ROLL-9).
 *
 * 1. `manifest.json` is written last: a folder without one holds nothing to restore from.
 * 2. It names each file's digest, and its own digest is kept with the agent's state, out of the program's reach:
 *    the backup lies under the program's data folder, where the program may write.
 */
import { z } from "zod";
import { Digest, Instant } from "../../../core/ids.ts";
import { ConfigPath, RunSpec } from "../../../core/upgrade/job.ts";

const SavedFile = {
  sha256: Digest,
  mode: z.int().min(0).max(0o7777),
  uid: z.int().min(0),
  gid: z.int().min(0),
};

export const Backup = z.object({
  key: z.string().max(200),
  created_at: Instant,
  /** Null when nothing was installed. */
  artifact: z.object(SavedFile).nullable(),
  configs: z.array(z.object({ path: ConfigPath, ...SavedFile })),
  /** Files that were not there, and go again on restore. */
  absent: z.array(ConfigPath),
  /** What a runtime keeps of its own beside the program, by name; null for what was not there. */
  beside: z.record(z.string().max(100), z.object(SavedFile).nullable()).default({}),
  ran: z.boolean(),
  /** How it ran, or would have. */
  run: RunSpec,
});
export type Backup = z.infer<typeof Backup>;

export const BackupRef = z.object({
  /** Relative to the program's backup folder. */
  folder: z.string().min(1).max(255),
  manifest: Digest,
});
export type BackupRef = z.infer<typeof BackupRef>;
