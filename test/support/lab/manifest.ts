/** An upgrade manifest in the server's config folder; answers with its path, which is the operator's copy too. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Lab } from "./lab.ts";
import type { Published } from "./origin.ts";

export interface ManifestOptions {
  readonly id: string;
  readonly profile?: string;
  readonly to: Published;
  readonly checksum?: string;
  readonly configs?: Readonly<Record<string, string>>;
  /** More of the manifest, as it is. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly stateCompatibility?: { readonly migration_type: string; readonly recovery_plan: string };
}

export async function writeManifest(lab: Lab, options: ManifestOptions): Promise<string> {
  const { id, profile = "hello", to, checksum = to.checksum, configs = {} } = options;
  const folder = join(lab.configDir, "upgrades", profile);
  await mkdir(folder, { recursive: true });
  const manifest = {
    upgrade_id: id,
    chain_profile_id: profile,
    binary_name: "hello",
    target_version: to.version,
    target_url: to.url,
    target_checksum: checksum,
    ...(options.stateCompatibility === undefined ? {} : { state_compatibility: options.stateCompatibility }),
    config_changes: Object.entries(configs).map(([path, content]) => ({ path, content })),
    ...options.more,
  };
  const path = join(folder, `${id}.yaml`);
  await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`);
  return path;
}
