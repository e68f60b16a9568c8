/**
 * Creates a rollout: rules first, then the intent, then one transaction that the database's own claim guards.
 *
 * 1. The nodes and their config files are fixed here, because the intent's Merkle root names them.
 * 2. What the intent says must be what the request says; the control plane fills nothing in.
 */
import { randomBytes } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import type { NodeId, RolloutId } from "../../core/ids.ts";
import { cutBatches } from "../../core/rollout/batches.ts";
import type { RolloutCreate } from "../../core/rollout/create.ts";
import { nodesTree } from "../../trust/merkle.ts";
import { orderBySeed } from "../../trust/order.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { checkIntent, type IntentRules } from "./check-intent.ts";
import { changesConfigsAlone } from "./config-only.ts";
import { eligibleNodes } from "./eligible-nodes.ts";
import { insertNodes, insertRollout, type Membership } from "./insert.ts";
import { checkRules, prepareRollout, type PreparedRollout, type PrepareDeps } from "./prepare.ts";
import { lockProfiles, refuseSecondActive } from "./profile-claim.ts";
import { refuseRevoked } from "./revoked-bytes.ts";
import { insertConfigs } from "./rollout-configs.ts";

export interface CreateDeps extends PrepareDeps {
  readonly intents: IntentRules;
}

export async function createRollout(
  deps: CreateDeps,
  request: RolloutCreate,
  actor: string,
): Promise<RolloutId> {
  const prepared = await prepareRollout(deps, request);
  await deps.db.begin(async (tx) => {
    await lockProfiles(tx, [request.chain_profile_id]);
    await refuseSecondActive(tx, [request.chain_profile_id]);
    const nodes = await placeRollout(tx, deps, prepared, actor, null);
    const data = { nodes: nodes.length, target_version: prepared.proposal.targetVersion };
    await appendEvents(tx, [{ kind: "rollout.created", rollout_id: request.id, actor, data }]);
  });
  return request.id;
}

/** The rows of one rollout, standalone or of a group; answers with its nodes. */
export async function placeRollout(
  tx: Transaction,
  deps: CreateDeps,
  { request, proposal, checksum, files }: PreparedRollout,
  actor: string,
  membership: Membership | null,
): Promise<NodeId[]> {
  const nodes = await eligibleNodes(tx, request);
  await refuseRevoked(
    tx,
    { fingerprint: checksum, run: proposal.run },
    nodes.map(({ id }) => id),
  );
  const configs = new Map(nodes.map((node) => [node.id, files.of(node)]));
  if (request.source_version === proposal.targetVersion) {
    const changing = nodes.map((node) => ({ ...node, configs: configs.get(node.id)!.all }));
    const alone = await changesConfigsAlone(tx, request.chain_profile_id, checksum, changing);
    checkRules(request, proposal, alone);
  }
  const tree = nodesTree(nodes.map(({ id }) => ({ node_id: id, configs: configs.get(id)!.all }))); // (1)
  if (request.nodes_root !== undefined && request.nodes_root !== tree.root)
    throw new FairleadError("CONFIGS_DIFFER", "the server renders other config files for these nodes");
  const intent = await checkIntent(deps.intents, {
    bytes: request.intent,
    rolloutId: request.id,
    profile: request.chain_profile_id,
    fingerprint: checksum,
    run: proposal.run,
    nodesRoot: tree.root,
    now: deps.now(),
  }); // (2)
  const seed = intent?.intent.canary_seed ?? randomBytes(32).toString("hex");
  const batches = cutBatches(orderBySeed(nodes, seed), request);
  await insertRollout(tx, {
    request,
    proposal,
    checksum,
    total: nodes.length,
    batchCount: batches.length,
    seed,
    intent,
    actor,
    membership,
  });
  await insertNodes(tx, request.id, batches, tree.proof);
  const own = new Map(nodes.map(({ id }) => [id, configs.get(id)!.own]));
  await insertConfigs(tx, request.id, { shared: files.shared, own, contents: files.contents });
  return nodes.map(({ id }) => id);
}
