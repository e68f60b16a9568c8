/** A wish without a manifest: every field from the operator's words. */
import type { ProfileId } from "../../core/ids.ts";
import {
  hashedRequest,
  RolloutCreateManual,
  RolloutWares,
  type RolloutChoice,
} from "../../core/rollout/create.ts";
import { planConfigs } from "../../render/configs.ts";
import { digestOfJson } from "../../trust/digest.ts";
import { checked } from "./checked.ts";
import type { CreateOptions, TypedSource } from "./options.ts";
import type { Wish } from "./wish.ts";

export const waresOf = (source: TypedSource, options: CreateOptions): RolloutWares =>
  checked(RolloutWares, {
    runtime: options.runtime,
    binary_name: source.binaryName,
    target_version: source.targetVersion,
    target_binary_url: source.url,
    target_binary_checksum: source.checksum,
    run: { args: options.arg, env: options.env, user: options.user ?? null },
  });

export const typedWish = (profile: ProfileId, wares: RolloutWares, choice: RolloutChoice): Wish => ({
  profile,
  binaryName: wares.binary_name,
  run: wares.run,
  choice,
  proposal: {
    runtime: wares.runtime,
    sourceVersion: choice.source_version,
    targetVersion: wares.target_version,
    url: wares.target_binary_url,
    checksum: wares.target_binary_checksum,
    strategy: choice.strategy,
    migrationType: wares.migration_type,
    recoveryPlan: wares.recovery_plan,
    acknowledgeStateRisk: choice.acknowledge_state_risk,
    configOnly: wares.config_files.length > 0,
  },
  plan: () =>
    planConfigs(
      {
        recipes: wares.config_files.map((file) => ({
          ...file,
          mode: file.mode,
          kind: "content",
          place: null,
        })),
        overrides: {},
        overridesPlace: { file: "the request", line: 1, column: 1 },
      },
      {
        profile,
        upgradeId: null,
        targetVersion: wares.target_version,
        sourceVersion: choice.source_version,
      },
    ),
  request(id, nodeIds) {
    const nodes = nodeIds.length === 0 ? {} : { node_ids: nodeIds };
    const request = checked(RolloutCreateManual, {
      ...choice,
      ...wares,
      id,
      chain_profile_id: profile,
      ...nodes,
    });
    return { ...request, manifest_content_hash: digestOfJson(hashedRequest(request)) };
  },
});
