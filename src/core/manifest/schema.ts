/** An upgrade manifest: `upgrades/{chain_profile_id}/{upgrade_id}.yaml` under the config folder (ROLL-1). */
import { z } from "zod";
import { Name, ProfileId, UpgradeId, Version } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { ConfigPath, RunSpec } from "../upgrade/job.ts";

export const MIGRATION_TYPES = ["none", "compatible", "breaking"] as const;
export const MigrationType = z.enum(MIGRATION_TYPES);
export type MigrationType = z.infer<typeof MigrationType>;

/** What a rollback can promise, by what the new version does to the node's state. */
export const ROLLBACK_TIER = { none: 1, compatible: 2, breaking: 3 } as const satisfies Record<
  MigrationType,
  number
>;

const RUNTIMES = ["process", "systemd", "docker"] as const;
export const Runtime = z.enum(RUNTIMES);
export type Runtime = z.infer<typeof Runtime>;

export const ConfigFile = z.strictObject({
  path: ConfigPath,
  mode: z
    .string()
    .regex(/^0[0-7]{3}$/)
    .default("0644"),
  content: z.string().max(LIMITS.configFileBytesMax),
});
export type ConfigFile = z.infer<typeof ConfigFile>;

export const ConfigFiles = z
  .array(ConfigFile)
  .max(LIMITS.configFilesMax)
  .refine((files) => new Set(files.map((file) => file.path)).size === files.length, "one entry per path");

export const Manifest = z.strictObject({
  upgrade_id: UpgradeId,
  chain_profile_id: ProfileId,
  runtime: Runtime.default("process"),
  binary_name: Name,
  target_version: Version,
  target_url: z.string().max(2048),
  /** Empty is caught by creation rule 1, with its own code. */
  target_checksum: z.string().max(200).default(""),
  run: RunSpec.prefault({}),
  state_compatibility: z
    .strictObject({
      migration_type: MigrationType.default("none"),
      recovery_plan: z.string().max(10_000).nullable().default(null),
    })
    .prefault({}),
  config_changes: ConfigFiles.default([]),
});
export type Manifest = z.infer<typeof Manifest>;
