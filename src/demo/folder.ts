/** One demo folder per clone and user, always the same, so that the next run finds what a killed one left. */
import { mkdir } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { sha256Hex } from "../trust/digest.ts";

export async function openDemoFolder(clone: string): Promise<string> {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `fairlead-demo-${uid}-${sha256Hex(clone).slice(0, 8)}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The operator's keys and contexts. */
export const homeIn = (folder: string): string => join(folder, "operator");
