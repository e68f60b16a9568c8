/** A new intent for a rollout whose window has closed: the same wish about the same nodes, signed again. */
import { FairleadError } from "../../core/errors.ts";
import type { Digest, NodeId, ProfileId, RolloutId } from "../../core/ids.ts";
import type { RunSpec } from "../../core/upgrade/job.ts";
import { nodesTree } from "../../trust/merkle.ts";
import type { Transaction } from "../db/database.ts";
import { checkIntent, type IntentRules } from "./check-intent.ts";
import { configsOf } from "./rollout-configs.ts";

interface Signed {
  readonly chain_profile_id: ProfileId;
  readonly target_binary_checksum: Digest;
  readonly run: RunSpec;
}

export async function renewIntent(
  tx: Transaction,
  deps: { readonly intents: IntentRules; readonly now: () => number },
  id: RolloutId,
  bytes: string,
): Promise<void> {
  const [rollout] = await tx<Signed[]>`
    select chain_profile_id, target_binary_checksum, run from rollouts where id = ${id}`;
  const nodes = await tx<{ node_id: NodeId }[]>`select node_id from rollout_nodes where rollout_id = ${id}`;
  const nodeIds = nodes.map(({ node_id }) => node_id);
  const configs = await configsOf(tx, id, nodeIds);
  const verified = await checkIntent(deps.intents, {
    bytes,
    rolloutId: id,
    profile: rollout!.chain_profile_id,
    fingerprint: rollout!.target_binary_checksum,
    run: rollout!.run,
    nodesRoot: nodesTree(nodeIds.map((node_id) => ({ node_id, configs: configs.get(node_id)! }))).root,
    now: deps.now(),
  });
  if (verified === null) throw new FairleadError("INTENT_REQUIRED", "no intent was given");
  // The order of the batches was drawn once, from the first intent's seed.
  await tx`
    update rollouts set intent_digest = ${verified.digest}, intent_frame = ${Buffer.from(bytes, "base64")},
      intent_not_after = ${new Date(verified.intent.not_after)},
      rollback_allowed = ${verified.intent.rollback === "previous"}
    where id = ${id}`;
}
