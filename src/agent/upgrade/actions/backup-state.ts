import { FairleadError } from "../../../core/errors.ts";
import type { Plan } from "../plan.ts";
import type { BackupRef } from "../backup/manifest.ts";
import type { BackupRequest } from "../port.ts";
import { action, type ActionContext, nothing } from "./action.ts";

/**
 * Never undone: what was saved stays for whoever looks into the failure.
 *
 * Only the checkpoint says that it was taken. What lies in the folder is not asked: the program may write there, and
 * what is taken for a backup is installed and started. Nothing has changed yet, so after a crash it is taken again.
 */
export const backupState = action("backup_state", {
  isDone: async ({ facts }) => facts.backup !== null,
  run: async ({ adapter, plan, facts, signal }) => {
    facts.backup = await adapter.backup(requestOf(plan), signal);
  },
  compensate: nothing,
});

const requestOf = ({ backup_folder, key, configs, absent, needed_backup }: Plan): BackupRequest => ({
  folder: backup_folder,
  key,
  configPaths: [...configs.map((config) => config.path), ...absent],
  needed: needed_backup === null ? [] : [needed_backup],
});

/** The backup that every compensation rests on. */
export function savedBy({ facts }: ActionContext): BackupRef {
  if (facts.backup === null) throw new FairleadError("BACKUP_CORRUPT", "no backup was taken");
  return facts.backup;
}
