/** What an operator sends to create a rollout: in auto mode a manifest's name, in manual mode every field (ROLL-1). */
import { z } from "zod";
import { Digest, Name, NodeId, ProfileId, RolloutId, UpgradeId, Version } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { FairleadError } from "../errors.ts";
import { ConfigFiles } from "../manifest/config-change.ts";
import {
  ArtifactUrl,
  Checksum,
  MigrationType,
  NodeSilenceMax,
  RecoveryPlan,
  Runtime,
} from "../manifest/schema.ts";
import { SignedIntent } from "../protocol/intent.ts";
import { LineText } from "../text.ts";
import { RunSpec } from "../upgrade/job.ts";
import { Strategy } from "./states.ts";

const LABELS_MAX = 20;
const LabelKey = LineText(63).min(1);

/** No more than `count` nodes of one value of the label may be away at once. */
export const MaxUnavailable = z.strictObject({
  label: LabelKey,
  count: z.int().min(1).max(LIMITS.batchNodesMax),
});
export type MaxUnavailable = z.infer<typeof MaxUnavailable>;

const LabelSelector = z
  .record(LabelKey, LineText(63))
  .refine((labels) => Object.keys(labels).length <= LABELS_MAX, `at most ${LABELS_MAX} labels`);
export type LabelSelector = z.infer<typeof LabelSelector>;

/** How an operator wants it done, whatever is installed and wherever. */
const choice = {
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
  /** Canary only: how many random nodes the first batch has; 1 unless said. */
  canary_size: z.int().min(1).max(LIMITS.batchNodesMax).optional(),
  /** Failures stop nothing. Over the threshold the rollout still ends `failed`. */
  force_continue: z.boolean().default(false),
  /** All at once only: a node that reports its completion succeeds without being observed. */
  skip_validation: z.boolean().default(false),
  max_unavailable: MaxUnavailable.optional(),
  /** Only nodes that have all of these labels. */
  node_labels: LabelSelector.default({}),
};
export const RolloutChoice = z.strictObject(choice);
export type RolloutChoice = z.infer<typeof RolloutChoice>;

/** What is installed, where no manifest says it. */
const wares = {
  runtime: Runtime.default("process"),
  binary_name: Name,
  target_version: Version,
  target_binary_url: ArtifactUrl,
  target_binary_checksum: Checksum,
  run: RunSpec.prefault({}),
  migration_type: MigrationType.default("none"),
  recovery_plan: RecoveryPlan.nullable().default(null),
  config_files: ConfigFiles.default([]),
  node_silence_max: NodeSilenceMax.optional(),
};
export const RolloutWares = z.strictObject(wares);
export type RolloutWares = z.infer<typeof RolloutWares>;

const policy = {
  /** Made by the caller, because the intent names it. */
  id: RolloutId,
  chain_profile_id: ProfileId,
  ...choice,
  /** Exactly these nodes; without it, every active node of the profile, type and labels at the source version. */
  node_ids: z.array(NodeId).min(1).max(LIMITS.rolloutNodesMax).optional(),
  /** What the caller believes; the server computes its own and refuses a difference (rule 6). */
  manifest_content_hash: Digest.optional(),
  /** The Merkle root over each node's config files as the caller rendered them; a difference is refused too. */
  nodes_root: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  intent: SignedIntent.optional(),
};

export const RolloutCreateAuto = z.strictObject({ ...policy, upgrade_id: UpgradeId });
export type RolloutCreateAuto = z.infer<typeof RolloutCreateAuto>;

export const RolloutCreateManual = z.strictObject({ ...policy, ...wares });
export type RolloutCreateManual = z.infer<typeof RolloutCreateManual>;

export const RolloutCreate = z.union([RolloutCreateAuto, RolloutCreateManual]);
export type RolloutCreate = z.infer<typeof RolloutCreate>;

/** As part of a group: without a strategy of its own it has the group's. */
const inherited = { strategy: Strategy.optional() };
export const ComponentCreate = z.union([
  RolloutCreateAuto.extend(inherited),
  RolloutCreateManual.extend(inherited),
]);

/** The fields that manual mode hashes: all but the two hashes and the intent, which is signed over them. */
export function hashedRequest(
  request: RolloutCreateManual,
): Omit<RolloutCreateManual, "intent" | "manifest_content_hash" | "nodes_root"> {
  const { intent: _intent, manifest_content_hash: _hash, nodes_root: _root, ...hashed } = request;
  return hashed;
}

/** Fields that mean nothing to the strategy are refused: whoever sent them expects something of them. */
export function checkStrategyFields(choice: RolloutChoice): void {
  const { strategy, canary_size, skip_validation, max_unavailable } = choice;
  if (canary_size !== undefined && strategy !== "canary") throw misplaced("canary_size", "canary", strategy);
  if (skip_validation && strategy !== "all_at_once")
    throw misplaced("skip_validation", "all_at_once", strategy);
  if (max_unavailable !== undefined && strategy === "all_at_once")
    throw misplaced("max_unavailable", "rolling or canary", strategy);
}

const misplaced = (field: string, needs: string, strategy: Strategy): FairleadError =>
  new FairleadError("INVALID_INPUT", `${field} goes with strategy ${needs}, not with ${strategy}`, { field });

export const CANARY_SIZE_DEFAULT = 1;
