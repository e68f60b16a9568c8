/** What operators and the control plane sign for that node: intents and commands. */
import { randomUUID } from "node:crypto";
import { CommandId, type NodeId } from "../../src/core/ids.ts";
import { COMMAND_TYPE_UPGRADE, type UpgradePayload } from "../../src/core/protocol/command.ts";
import type { Intent, IntentLeaf } from "../../src/core/protocol/intent.ts";
import type { CommandDraft } from "../../src/trust/command.ts";
import { runDigest } from "../../src/trust/intent.ts";
import { nodesTree } from "../../src/trust/merkle.ts";
import {
  at,
  CLUSTER,
  CONFIGS,
  fingerprint,
  HOUR_MS,
  NODE,
  NOW,
  OTHER_NODE,
  PROFILE,
  ROLLOUT,
  RUN,
} from "./trust-names.ts";

export const leaf = (node_id: NodeId, configs = CONFIGS): IntentLeaf => ({ node_id, configs });
export const treeOf = (configs = CONFIGS) => nodesTree([leaf(NODE, configs), leaf(OTHER_NODE, configs)]);
export const TREE = treeOf();

export const intentOf = (changes: Partial<Intent> = {}): Intent => ({
  cluster_id: CLUSTER,
  rollout_id: ROLLOUT,
  serial: 7,
  chain_profile_id: PROFILE,
  fingerprint: fingerprint("v2"),
  run_digest: runDigest(RUN),
  nodes_root: TREE.root,
  canary_seed: "ab".repeat(32),
  not_before: at(NOW - HOUR_MS),
  not_after: at(NOW + 24 * HOUR_MS),
  max_attempts: 3,
  rollback: "previous",
  ...changes,
});

export const commandOf = (changes: Partial<CommandDraft> = {}): CommandDraft => ({
  command_id: CommandId.parse(randomUUID()),
  command_type: COMMAND_TYPE_UPGRADE,
  cluster_id: CLUSTER,
  subject_node_id: NODE,
  sequence: 1,
  rollout_id: ROLLOUT,
  chain_profile_id: PROFILE,
  intent_digest: null,
  direction: "forward",
  attempt: 1,
  assignment_config_version: 1,
  fingerprint: fingerprint("v2"),
  issued_at: at(NOW),
  expires_at: at(NOW + HOUR_MS / 4),
  ...changes,
});

export const payloadOf = (changes: Partial<UpgradePayload> = {}): UpgradePayload => ({
  upgrade_id: null,
  artifact: {
    name: "hello",
    version: "2.0.0",
    fingerprint: fingerprint("v2"),
    url: "https://artifacts.example/v2",
  },
  run: RUN,
  configs: CONFIGS,
  ...changes,
});
