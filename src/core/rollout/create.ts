/** What an operator sends to create a rollout: in auto mode a manifest's name, in manual mode every field (ROLL-1). */
import { z } from "zod";
import { Digest, Name, NodeId, ProfileId, RolloutId, UpgradeId, Version } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { ConfigFiles, MigrationType, Runtime } from "../manifest/schema.ts";
import { RunSpec } from "../upgrade/job.ts";
import { Strategy } from "./states.ts";

const policy = {
  /** Made by the caller, because the intent names it. */
  id: RolloutId,
  chain_profile_id: ProfileId,
  node_type: Name,
  source_version: Version,
  strategy: Strategy.default("rolling"),
  batch_size: z.int().min(1).max(LIMITS.batchNodesMax),
  failure_threshold: z.number().min(0).max(1).default(0),
  health_wait_seconds: z
    .number()
    .min(0)
    .max(LIMITS.healthWaitMaxMs / 1000)
    .default(LIMITS.healthWaitDefaultMs / 1000),
  acknowledge_state_risk: z.boolean().default(false),
  /** Exactly these nodes; without it, every active node of the profile and type at the source version. */
  node_ids: z.array(NodeId).min(1).max(LIMITS.rolloutNodesMax).optional(),
  /** What the caller believes; the server computes its own and refuses a difference (rule 6). */
  manifest_content_hash: Digest.optional(),
  intent: z
    .base64()
    .max(64 * 1024)
    .optional(),
};

export const RolloutCreateAuto = z.strictObject({ ...policy, upgrade_id: UpgradeId });
export type RolloutCreateAuto = z.infer<typeof RolloutCreateAuto>;

export const RolloutCreateManual = z.strictObject({
  ...policy,
  runtime: Runtime.default("process"),
  binary_name: Name,
  target_version: Version,
  target_binary_url: z.string().max(2048),
  target_binary_checksum: z.string().max(200),
  run: RunSpec.prefault({}),
  migration_type: MigrationType.default("none"),
  recovery_plan: z.string().max(10_000).nullable().default(null),
  config_files: ConfigFiles.default([]),
});
export type RolloutCreateManual = z.infer<typeof RolloutCreateManual>;

export const RolloutCreate = z.union([RolloutCreateAuto, RolloutCreateManual]);
export type RolloutCreate = z.infer<typeof RolloutCreate>;

/** The fields that manual mode hashes: all but the hash itself and the intent, which is signed over them. */
export function hashedRequest(
  request: RolloutCreateManual,
): Omit<RolloutCreateManual, "intent" | "manifest_content_hash"> {
  const { intent: _intent, manifest_content_hash: _hash, ...hashed } = request;
  return hashed;
}
