/** What was seen of a start once it had settled: which invocation of the unit it was, and which bytes. */
import { join } from "node:path";
import { z } from "zod";
import { Digest } from "../../../../core/ids.ts";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import { ensureDirectory, readJsonIfThere, writeJsonDurable } from "../../../../host/files.ts";
import type { Launch } from "./drop-in.ts";

export const Started = z.object({
  instance_id: z.string().max(200),
  invocation_id: z.string().max(100),
  fingerprint: Digest,
  script: z.boolean(),
});
export type Started = z.infer<typeof Started>;

const pathOf = (folder: string): string => join(folder, "started.json");

export async function readStarted(folder: string, fs: FileSystemPort): Promise<Started | undefined> {
  return readJsonIfThere(pathOf(folder), Started, fs);
}

export async function writeStarted(folder: string, started: Started, fs: FileSystemPort): Promise<void> {
  await ensureDirectory(folder, 0o700, fs);
  await writeJsonDurable(pathOf(folder), started, { fs, soleWriter: true });
}

/**
 * Each invocation has an id of its own. Ours has the one in its environment; when systemd started the program again
 * by itself, or a person did, that environment is the same, and the invocation tells them apart.
 */
export function instanceOf(
  launch: Launch | undefined,
  started: Started | undefined,
  invocation: string,
): string {
  const short = invocation.slice(0, 12);
  if (launch === undefined) return `unit.${short}`;
  const isOurs = started?.instance_id !== launch.instance_id || started.invocation_id === invocation;
  return isOurs ? launch.instance_id : `${launch.instance_id}.${short}`;
}
