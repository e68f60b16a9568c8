/** A wish from a manifest: a file of the operator's, with the templates that lie beside it. */
import { dirname, join } from "node:path";
import { LIMITS } from "../../core/limits.ts";
import { RolloutCreateAuto, type RolloutChoice } from "../../core/rollout/create.ts";
import { openManifest, recipesOf } from "../../host/manifest-file.ts";
import { templateFolder } from "../../host/template-folder.ts";
import { planConfigs, type ConfigPlan } from "../../render/configs.ts";
import { digestOf } from "../../trust/digest.ts";
import { readNamedFile } from "../operator-files.ts";
import { checked } from "./checked.ts";
import type { Wish } from "./wish.ts";

interface Named {
  readonly flag: string;
  readonly file: string;
  /** Undefined: where they lie in a config folder, `templates/` two folders above the manifest's. */
  readonly templates: string | undefined;
  readonly choice: RolloutChoice;
}

export const templatesOf = (file: string, templates: string | undefined): string =>
  templates ?? join(dirname(file), "..", "..", "templates");

/** The manifest with a plan of its config files, for nodes that run the source version. */
export async function openWish({ flag, file, templates }: Omit<Named, "choice">) {
  const bytes = await readNamedFile(flag, file, LIMITS.manifestBytesMax);
  const open = openManifest(bytes, file);
  const configs = await recipesOf(open, templateFolder(templatesOf(file, templates)));
  const { manifest } = open;
  const plan = (sourceVersion: string): ConfigPlan =>
    planConfigs(configs, {
      profile: manifest.chain_profile_id,
      upgradeId: manifest.upgrade_id,
      targetVersion: manifest.target_version,
      sourceVersion,
    });
  return { bytes, manifest, plan };
}

export async function readManifestWish({ choice, ...named }: Named): Promise<Wish> {
  const { bytes, manifest, plan } = await openWish(named);
  const { migration_type, recovery_plan } = manifest.state_compatibility;
  return {
    profile: manifest.chain_profile_id,
    binaryName: manifest.binary_name,
    run: manifest.run,
    choice,
    proposal: {
      runtime: manifest.runtime,
      sourceVersion: choice.source_version,
      targetVersion: manifest.target_version,
      url: manifest.target_url,
      checksum: manifest.target_checksum,
      strategy: choice.strategy,
      migrationType: migration_type,
      recoveryPlan: recovery_plan,
      acknowledgeStateRisk: choice.acknowledge_state_risk,
      // What the nodes have is the server's to know.
      configOnly: manifest.config_changes.length > 0,
    },
    plan: () => plan(choice.source_version),
    request: (id, nodeIds) =>
      checked(RolloutCreateAuto, {
        ...choice,
        id,
        chain_profile_id: manifest.chain_profile_id,
        upgrade_id: manifest.upgrade_id,
        manifest_content_hash: digestOf(bytes),
        ...(nodeIds.length === 0 ? {} : { node_ids: nodeIds }),
      }),
  };
}
