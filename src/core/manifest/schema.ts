/** An upgrade manifest: `upgrades/{chain_profile_id}/{upgrade_id}.yaml` under the config folder (ROLL-1). */
import { z } from "zod";
import { Name, ProfileId, UpgradeId, Version } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { LineText, LongText } from "../text.ts";
import { RunSpec } from "../upgrade/job.ts";
import { ConfigChanges, Variables } from "./config-change.ts";

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

/** Empty is caught by creation rule 1, with its own code. */
export const Checksum = LineText(200);
export const ArtifactUrl = LineText(2048);
export const RecoveryPlan = LongText(10_000);

/** In seconds. */
export const NodeSilenceMax = z
  .number()
  .min(1)
  .max(LIMITS.nodeSilenceMaxMaxMs / 1000)
  .describe("Seconds without a heartbeat after which a node at work is given up.");

export const Manifest = z.strictObject({
  upgrade_id: UpgradeId.describe("The file's name without .yaml."),
  chain_profile_id: ProfileId.describe("The name of the folder that the file lies in."),
  runtime: Runtime.default("process"),
  binary_name: Name,
  target_version: Version,
  target_url: ArtifactUrl.describe("Where the bytes are; a container image is named by digest (@sha256:…)."),
  target_checksum: Checksum.default("").describe("sha256:<64 hex digits>; required by creation rule 1."),
  run: RunSpec.prefault({}).describe("argv (without the program itself), environment and user."),
  state_compatibility: z
    .strictObject({
      migration_type: MigrationType.default("none").describe("breaking needs a recovery_plan and a canary."),
      recovery_plan: RecoveryPlan.nullable().default(null),
    })
    .prefault({}),
  node_silence_max: NodeSilenceMax.default(LIMITS.nodeSilenceMaxDefaultMs / 1000),
  config_changes: ConfigChanges.default([]).describe("Config files, whole or from templates."),
  variable_overrides: Variables.default({}).describe("Win over the variables of every template."),
});
export type Manifest = z.infer<typeof Manifest>;
