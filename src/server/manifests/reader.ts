/** Manifests from the config folder, resolved at call time: a file changed on disk is a changed manifest (ROLL-1). */
import { join } from "node:path";
import { readdir } from "node:fs/promises";
import { FairleadError } from "../../core/errors.ts";
import type { Digest, ProfileId, UpgradeId } from "../../core/ids.ts";
import { UpgradeId as UpgradeIdSchema } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Manifest } from "../../core/manifest/schema.ts";
import { digestOf } from "../../trust/digest.ts";
import { readBounded } from "../../host/files.ts";
import { parseManifest } from "../../host/manifest-file.ts";

export interface StoredManifest {
  readonly manifest: Manifest;
  readonly contentHash: Digest;
}

export function createManifestReader(configDir: () => string) {
  const folder = (profile: ProfileId) => join(configDir(), "upgrades", profile);

  /** Ids are names without separators, so the path cannot leave the folder. */
  async function get(profile: ProfileId, upgrade: UpgradeId): Promise<StoredManifest> {
    let bytes: Buffer;
    try {
      bytes = await readBounded(join(folder(profile), `${upgrade}.yaml`), LIMITS.manifestBytesMax);
    } catch (cause) {
      throw new FairleadError(
        "MANIFEST_NOT_FOUND",
        `no manifest ${profile}/${upgrade} on the server`,
        undefined,
        cause,
      );
    }
    const manifest = parseManifest(bytes);
    if (manifest.chain_profile_id !== profile || manifest.upgrade_id !== upgrade) {
      throw new FairleadError(
        "MANIFEST_INVALID",
        `the manifest ${profile}/${upgrade} names itself differently`,
      );
    }
    return { manifest, contentHash: digestOf(bytes) };
  }

  async function list(profile: ProfileId): Promise<UpgradeId[]> {
    const names = await readdir(folder(profile)).catch(() => [] as string[]);
    return names
      .filter((name) => name.endsWith(".yaml"))
      .map((name) => UpgradeIdSchema.safeParse(name.slice(0, -".yaml".length)))
      .flatMap((parsed) => (parsed.success ? [parsed.data] : []))
      .toSorted();
  }

  return { get, list };
}
