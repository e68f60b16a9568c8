/** The manifest of the demo's program, as an operator would write it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureDirectory } from "../host/files.ts";
import { digestOf } from "../trust/digest.ts";
import { PROFILE } from "./fleet.ts";

export async function writeManifest(
  configDir: string,
  origin: string,
  version: string,
  program: Buffer,
): Promise<string> {
  const folder = join(configDir, "upgrades", PROFILE);
  await ensureDirectory(folder, 0o700);
  const upgrade = `v${version}`;
  const path = join(folder, `${upgrade}.yaml`);
  const lines = [
    `upgrade_id: ${upgrade}`,
    `chain_profile_id: ${PROFILE}`,
    "binary_name: hello",
    `target_version: ${version}`,
    `target_url: ${origin}/hello-${version}`,
    `target_checksum: ${digestOf(program)}`,
  ];
  await writeFile(path, `${lines.join("\n")}\n`);
  return path;
}
