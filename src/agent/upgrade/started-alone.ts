/** A start without the control plane, kept until the program is next started with it: told when the node is back (SNAP-9). */
import { join } from "node:path";
import type { ProfileId } from "../../core/ids.ts";
import { StartedAlone } from "../../core/protocol/agent-api.ts";
import { removeDurable } from "../../host/durable-write.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { ensureDirectory, readJsonIfThere, writeJsonDurable } from "../../host/files.ts";

const folderOf = (stateDir: string): string => join(stateDir, "started-alone");
const pathOf = (stateDir: string, profile: ProfileId): string => join(folderOf(stateDir), `${profile}.json`);

export async function readStartedAlone(
  stateDir: string,
  profile: ProfileId,
): Promise<StartedAlone | undefined> {
  return readJsonIfThere(pathOf(stateDir, profile), StartedAlone);
}

/** Null: it was started with the control plane there. */
export async function noteStartedAlone(
  stateDir: string,
  profile: ProfileId,
  alone: StartedAlone | null,
  fs: FileSystemPort,
): Promise<void> {
  if (alone === null) return removeDurable(pathOf(stateDir, profile), fs);
  await ensureDirectory(folderOf(stateDir), 0o700, fs);
  await writeJsonDurable(pathOf(stateDir, profile), alone, { fs });
}
