/**
 * A command asks a node to act now (SNAP-16, ROLL-10). It carries references only, lives for minutes,
 * and names a sequence that never comes twice.
 */
import { z } from "zod";
import {
  ClusterId,
  CommandId,
  Digest,
  Instant,
  KeyId,
  NodeId,
  ProfileId,
  RolloutId,
  UpgradeId,
} from "../ids.ts";
import { ArtifactRef, ConfigRef, Direction, RunSpec } from "../upgrade/job.ts";
import { LIMITS } from "../limits.ts";

export const COMMAND_DOMAIN = "fairlead/command/v1";
export const COMMAND_TYPE_UPGRADE = 9;

export const CommandHeader = z.strictObject({
  command_id: CommandId,
  command_type: z.literal(COMMAND_TYPE_UPGRADE),
  cluster_id: ClusterId,
  subject_node_id: NodeId,
  sequence: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  rollout_id: RolloutId,
  chain_profile_id: ProfileId,
  intent_digest: Digest.nullable(),
  direction: Direction,
  attempt: z.int().min(1).max(1000),
  assignment_config_version: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  fingerprint: Digest,
  issued_at: Instant,
  expires_at: Instant,
  signer_key_id: KeyId,
  content_hash: Digest,
});
export type CommandHeader = z.infer<typeof CommandHeader>;

export const UpgradePayload = z.strictObject({
  upgrade_id: UpgradeId.nullable(),
  artifact: ArtifactRef,
  run: RunSpec,
  configs: z.array(ConfigRef).max(LIMITS.configFilesMax),
});
export type UpgradePayload = z.infer<typeof UpgradePayload>;
