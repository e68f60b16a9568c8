/** The rows of a new rollout and of its nodes. */
import type { Digest, NodeId, RolloutId } from "../../core/ids.ts";
import type { GroupId } from "../../core/protocol/group-api.ts";
import { CANARY_SIZE_DEFAULT, type RolloutCreate } from "../../core/rollout/create.ts";
import type { VerifiedIntent } from "../../trust/intent.ts";
import type { Transaction } from "../db/database.ts";
import { explainConflict } from "./profile-claim.ts";
import type { Proposal } from "./proposal.ts";

/**
 * The database counts its rows by itself about once a minute. Until then it would take a new rollout for a dozen nodes,
 * and read all of its rows whenever a step asks for some.
 */
const COUNTED_FROM = 1_000;

/** Its place in a group. */
export interface Membership {
  readonly groupId: GroupId;
  readonly componentIndex: number;
}

interface NewRollout {
  readonly request: RolloutCreate;
  readonly proposal: Proposal;
  readonly checksum: Digest;
  readonly total: number;
  readonly batchCount: number;
  readonly seed: string;
  readonly intent: VerifiedIntent | null;
  readonly actor: string;
  readonly membership: Membership | null;
}

export async function insertRollout(
  tx: Transaction,
  { request, proposal, checksum, total, batchCount, seed, intent, actor, membership }: NewRollout,
): Promise<void> {
  const row = {
    id: request.id,
    group_id: membership?.groupId ?? null,
    component_index: membership?.componentIndex ?? null,
    chain_profile_id: request.chain_profile_id,
    node_type: request.node_type,
    upgrade_id: proposal.upgradeId,
    runtime: proposal.runtime,
    binary_name: proposal.binaryName,
    source_version: request.source_version,
    target_version: proposal.targetVersion,
    target_binary_url: proposal.url,
    target_binary_checksum: checksum,
    manifest_content_hash: proposal.contentHash,
    run: tx.json(proposal.run),
    migration_type: proposal.migrationType,
    recovery_plan: proposal.recoveryPlan,
    node_silence_max_ms: proposal.nodeSilenceMaxMs,
    strategy: request.strategy,
    batch_size: request.batch_size,
    batch_count: batchCount,
    canary_size: request.strategy === "canary" ? (request.canary_size ?? CANARY_SIZE_DEFAULT) : 0,
    force_continue: request.force_continue,
    skip_validation: request.skip_validation,
    max_unavailable: request.max_unavailable === undefined ? null : tx.json(request.max_unavailable),
    node_labels: tx.json(request.node_labels),
    failure_threshold: request.failure_threshold,
    health_wait_ms: Math.round(request.health_wait_seconds * 1000),
    status: "pending",
    total_nodes: total,
    pending_nodes: total,
    intent_digest: intent?.digest ?? null,
    intent_frame: intent === null ? null : Buffer.from(request.intent!, "base64"),
    intent_not_after: intent === null ? null : new Date(intent.intent.not_after),
    rollback_allowed: intent === null || intent.intent.rollback === "previous",
    canary_seed: seed,
    created_by: actor,
  };
  try {
    await tx`insert into rollouts ${tx(row)}`;
  } catch (error) {
    throw explainConflict(error, `rollout ${request.id}`, request.chain_profile_id);
  }
}

export async function insertNodes(
  tx: Transaction,
  id: RolloutId,
  batches: readonly (readonly { readonly id: NodeId }[])[],
  proof: (nodeId: string) => unknown,
): Promise<void> {
  const rows = batches.flatMap((batch, batch_index) =>
    batch.map((node) => ({ node_id: node.id, batch_index, proof: proof(node.id) })),
  );
  const placed = tx.json(rows as never);
  await tx`
    insert into rollout_nodes (rollout_id, node_id, batch_index)
    select ${id}, n.node_id, n.batch_index from jsonb_to_recordset(${placed}) as n(node_id uuid, batch_index int)`;
  await tx`
    insert into rollout_proofs (rollout_id, node_id, proof)
    select ${id}, n.node_id, n.proof from jsonb_to_recordset(${placed}) as n(node_id uuid, proof jsonb)`;
  if (rows.length >= COUNTED_FROM) await tx`analyze rollout_nodes, rollout_proofs`;
}
