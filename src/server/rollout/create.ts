/**
 * Creates a rollout: rules first, then the intent, then one transaction that the database's own unique index guards.
 *
 * 1. The nodes are fixed here, because the intent's Merkle root names them.
 * 2. What the intent says must be what the request says; the control plane fills nothing in.
 */
import { FairleadError } from "../../core/errors.ts";
import { Digest, type NodeId, type RolloutId } from "../../core/ids.ts";
import type { RolloutCreate } from "../../core/rollout/create.ts";
import { checkCreationRules } from "../../core/rollout/creation-rules.ts";
import { ACTIVE_STATUSES } from "../../core/rollout/states.ts";
import type { ConfigRef } from "../../core/upgrade/job.ts";
import { digestOf } from "../../trust/digest.ts";
import { nodesTree } from "../../trust/merkle.ts";
import { orderBySeed } from "../../trust/order.ts";
import type { Database, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { resolveProposal, type ManifestReader, type Proposal } from "./proposal.ts";
import { eligibleNodes } from "./eligible-nodes.ts";
import { checkIntent, type IntentRules } from "./check-intent.ts";
import { randomBytes } from "node:crypto";

export interface CreateDeps {
  readonly db: Database;
  readonly manifests: ManifestReader;
  readonly intents: IntentRules;
  readonly now: () => number;
}

export async function createRollout(
  deps: CreateDeps,
  request: RolloutCreate,
  actor: string,
): Promise<RolloutId> {
  const proposal = await resolveProposal(deps.manifests, request);
  checkCreationRules({
    ...proposal,
    sourceVersion: request.source_version,
    strategy: request.strategy,
    acknowledgeStateRisk: request.acknowledge_state_risk,
  });
  if (request.strategy !== "rolling")
    throw new FairleadError(
      "INVALID_INPUT",
      `strategy ${request.strategy} is not available yet: use rolling`,
    );
  const checksum = Digest.parse(proposal.checksum);
  const configs: ConfigRef[] = proposal.configFiles
    .map(({ path, mode, content }) => ({ path, mode, sha256: digestOf(content) }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));

  await deps.db.begin(async (tx) => {
    await refuseSecondActive(tx, request);
    const nodes = await eligibleNodes(tx, request);
    const tree = nodesTree(nodes.map((node) => ({ node_id: node.id, configs })));
    const intent = await checkIntent(deps.intents, {
      bytes: request.intent,
      rolloutId: request.id,
      profile: request.chain_profile_id,
      fingerprint: checksum,
      run: proposal.run,
      nodesRoot: tree.root,
      now: deps.now(),
    });
    const seed = intent?.intent.canary_seed ?? randomBytes(32).toString("hex");
    await insertRollout(tx, request, proposal, checksum, nodes.length, seed, intent, actor);
    await insertNodes(tx, request, orderBySeed(nodes, seed), tree.proof);
    await insertConfigs(tx, request.id, proposal, configs);
    const data = { nodes: nodes.length, target_version: proposal.targetVersion };
    await appendEvents(tx, [{ kind: "rollout.created", rollout_id: request.id, actor, data }]);
  });
  return request.id;
}

type CheckedIntent = Awaited<ReturnType<typeof checkIntent>>;

async function insertRollout(
  tx: Transaction,
  request: RolloutCreate,
  proposal: Proposal,
  checksum: Digest,
  total: number,
  seed: string,
  intent: CheckedIntent,
  actor: string,
): Promise<void> {
  const row = {
    id: request.id,
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
    strategy: request.strategy,
    batch_size: request.batch_size,
    batch_count: Math.ceil(total / request.batch_size),
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
    throw explainConflict(error, request);
  }
}

/** Said before anything else that follows from it: an active rollout holds its nodes. The index decides a race. */
async function refuseSecondActive(tx: Transaction, request: RolloutCreate): Promise<void> {
  const [active] = await tx<{ id: string }[]>`
    select id from rollouts where chain_profile_id = ${request.chain_profile_id} and group_id is null
      and status = any(${[...ACTIVE_STATUSES]})`;
  if (active !== undefined) throw rolloutActive(request, active.id);
}

function explainConflict(error: unknown, request: RolloutCreate): unknown {
  const constraint = (error as { constraint_name?: string }).constraint_name;
  if (constraint === "one_active_rollout_per_profile") {
    return rolloutActive(request);
  }
  if (constraint === "rollouts_pkey")
    return new FairleadError("STATE_MOVED", `rollout ${request.id} exists already`);
  return error;
}

const rolloutActive = (request: RolloutCreate, id?: string): FairleadError =>
  new FairleadError("ROLLOUT_ACTIVE", `profile ${request.chain_profile_id} has an active rollout`, {
    rule: 5,
    ...(id === undefined ? {} : { rollout_id: id }),
  });

async function insertNodes(
  tx: Transaction,
  request: RolloutCreate,
  ordered: readonly { readonly id: NodeId }[],
  proof: (nodeId: string) => unknown,
): Promise<void> {
  const rows = ordered.map((node, index) => ({
    node_id: node.id,
    batch_index: Math.floor(index / request.batch_size),
    proof: proof(node.id),
  }));
  await tx`
    insert into rollout_nodes (rollout_id, node_id, batch_index, proof)
    select ${request.id}, n.node_id, n.batch_index, n.proof
    from jsonb_to_recordset(${tx.json(rows as never)}) as n(node_id uuid, batch_index int, proof jsonb)`;
}

async function insertConfigs(
  tx: Transaction,
  id: RolloutId,
  proposal: Proposal,
  configs: readonly ConfigRef[],
): Promise<void> {
  for (const { content } of proposal.configFiles) {
    await tx`insert into blobs (digest, bytes) values (${digestOf(content)}, ${Buffer.from(content)}) on conflict do nothing`;
  }
  for (const { path, mode, sha256 } of configs) {
    await tx`insert into rollout_configs (rollout_id, path, mode, sha256) values (${id}, ${path}, ${mode}, ${sha256})`;
  }
}
