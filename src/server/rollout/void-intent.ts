/**
 * The empty intent of a cancel: kept with the rollout and carried to every node that the rollout named, so that a
 * thief of the control plane cannot go on with what an operator has called off.
 */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId, ProfileId, RolloutId } from "../../core/ids.ts";
import { isVoid } from "../../core/protocol/intent.ts";
import { verifyIntent } from "../../trust/intent.ts";
import type { Transaction } from "../db/database.ts";
import type { IntentRules } from "./check-intent.ts";
import { notifyNodes } from "./wake.ts";

/** Answers with its serial. */
export async function voidIntent(
  tx: Transaction,
  { intents, now }: { readonly intents: IntentRules; readonly now: () => number },
  id: RolloutId,
  bytes: string,
): Promise<number> {
  const frame = Buffer.from(bytes, "base64");
  const { intent } = verifyIntent(frame, await intents.bundle(), { local: now(), effective: now() });
  const [rollout] = await tx<
    { chain_profile_id: ProfileId }[]
  >`select chain_profile_id from rollouts where id = ${id}`;
  const fits =
    isVoid(intent) &&
    intent.cluster_id === intents.clusterId &&
    intent.rollout_id === id &&
    intent.chain_profile_id === rollout!.chain_profile_id;
  if (!fits) throw new FairleadError("INTENT_MISMATCH", "a cancel takes an empty intent for its own rollout");
  await tx`update rollouts set void_intent_frame = ${frame}, void_intent_serial = ${intent.serial} where id = ${id}`;
  const nodes = await tx<{ node_id: NodeId }[]>`select node_id from rollout_nodes where rollout_id = ${id}`;
  await notifyNodes(
    tx,
    nodes.map((node) => node.node_id),
  );
  return intent.serial;
}
