/**
 * Manifests from the config folder (ROLL-1).
 *
 * 1. Resolved at call time: a file changed on disk is a changed manifest.
 * 2. Ids and template names have no separator, so no path leaves its folder.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { ProfileId, UpgradeId, type Digest } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ConfigRecipes } from "../../core/manifest/recipe.ts";
import type { Manifest } from "../../core/manifest/schema.ts";
import { errnoOf } from "../../host/file-errors.ts";
import { readBoundedIfThere } from "../../host/files.ts";
import { openManifest, recipesOf } from "../../host/manifest-file.ts";
import { templateFolder } from "../../host/template-folder.ts";
import { digestOf } from "../../trust/digest.ts";

export interface ManifestBytes {
  readonly bytes: Buffer;
  /** Of the raw bytes. */
  readonly contentHash: Digest;
  /** As it is named in complaints. */
  readonly file: string;
}

export interface StoredManifest extends ManifestBytes {
  readonly manifest: Manifest;
  readonly configs: ConfigRecipes;
}

export interface ManifestName {
  readonly profile: ProfileId;
  readonly upgrade: UpgradeId;
}

export type ManifestReader = ReturnType<typeof createManifestReader>;

export function createManifestReader(configDir: () => string) {
  const upgrades = () => join(configDir(), "upgrades");

  async function read({ profile, upgrade }: ManifestName): Promise<ManifestBytes> {
    const file = `upgrades/${profile}/${upgrade}.yaml`;
    const bytes = await readBoundedIfThere(join(configDir(), file), LIMITS.manifestBytesMax);
    if (bytes === undefined)
      throw new FairleadError("MANIFEST_NOT_FOUND", `no manifest ${profile}/${upgrade} on the server`);
    return { bytes, contentHash: digestOf(bytes), file };
  }

  const get = async (profile: ProfileId, upgrade: UpgradeId): Promise<StoredManifest> =>
    open({ profile, upgrade }, await read({ profile, upgrade }));

  /** Of the very bytes that were read. */
  async function open({ profile, upgrade }: ManifestName, stored: ManifestBytes): Promise<StoredManifest> {
    const opened = openManifest(stored.bytes, stored.file);
    const { chain_profile_id, upgrade_id } = opened.manifest;
    if (chain_profile_id !== profile || upgrade_id !== upgrade)
      throw new FairleadError(
        "MANIFEST_INVALID",
        `${stored.file} names itself ${chain_profile_id}/${upgrade_id}`,
      );
    const configs = await recipesOf(opened, templateFolder(join(configDir(), "templates")));
    return { ...stored, manifest: opened.manifest, configs };
  }

  /** By profile and name; what is no manifest's name is left out. */
  async function list(profile?: ProfileId): Promise<ManifestName[]> {
    const profiles = profile === undefined ? await names(upgrades(), "", ProfileId) : [profile];
    const found: ManifestName[] = [];
    for (const each of profiles)
      for (const upgrade of await names(join(upgrades(), each), ".yaml", UpgradeId))
        found.push({ profile: each, upgrade });
    return found;
  }

  return { read, open, get, list };
}

async function names<T extends z.ZodType<string>>(
  folder: string,
  ending: string,
  schema: T,
): Promise<z.infer<T>[]> {
  let entries: string[];
  try {
    entries = await readdir(folder);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return [];
    throw error;
  }
  return entries
    .filter((name) => name.endsWith(ending))
    .map((name) => schema.safeParse(name.slice(0, name.length - ending.length)))
    .flatMap((parsed) => (parsed.success ? [parsed.data] : []))
    .toSorted();
}
