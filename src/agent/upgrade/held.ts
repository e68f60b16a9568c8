/** A profile whose upgrade could not be taken back: hands off until a person, or a job a person sent, has put it right. */
import { join } from "node:path";
import type { z } from "zod";
import { Instant, type ProfileId } from "../../core/ids.ts";
import { removeDurable } from "../../host/durable-write.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { ensureDirectory, readJsonIfThere, writeJsonDurable } from "../../host/files.ts";
import { Failure } from "./checkpoints.ts";

export const Hold = Failure.extend({ at: Instant });
export type Hold = z.infer<typeof Hold>;

const folderOf = (stateDir: string): string => join(stateDir, "upgrades", "held");
const pathOf = (stateDir: string, profile: ProfileId): string => join(folderOf(stateDir), `${profile}.json`);

export async function readHold(
  stateDir: string,
  profile: ProfileId,
  fs?: FileSystemPort,
): Promise<Hold | null> {
  return (await readJsonIfThere(pathOf(stateDir, profile), Hold, fs)) ?? null;
}

export async function hold(
  stateDir: string,
  profile: ProfileId,
  why: Hold,
  fs?: FileSystemPort,
): Promise<void> {
  await ensureDirectory(folderOf(stateDir), 0o700, fs);
  await writeJsonDurable(pathOf(stateDir, profile), why, fs === undefined ? {} : { fs });
}

export async function release(stateDir: string, profile: ProfileId, fs?: FileSystemPort): Promise<void> {
  await removeDurable(pathOf(stateDir, profile), fs);
}
