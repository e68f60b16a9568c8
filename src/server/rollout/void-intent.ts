/**
 * The empty intent of a cancel: kept with the rollout and carried to every node that the rollout named, so that a
 * thief of the control plane cannot go on with what an operator has called off.
 *
 * 1. It outdates the rollout's own intent, and none of a later rollout: nodes count serials by profile.
 */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId, ProfileId, RolloutId } from "../../core/ids.ts";
import { isVoid } from "../../core/protocol/intent.ts";
import { verifyIntent } from "../../trust/intent.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { serialOf } from "./called-off.ts";
import type { IntentRules } from "./check-intent.ts";
import { notifyNodes } from "./wake.ts";

export interface VoidIntent {
  readonly id: RolloutId;
  readonly bytes: string;
  readonly actor: string;
  readonly reason: string | null;
}

interface Voided {
  readonly chain_profile_id: ProfileId;
  readonly group_id: string | null;
  readonly intent_frame: Buffer | null;
  readonly created_at: Date;
}

/** Answers with its serial. */
export async function voidIntent(
  tx: Transaction,
  { intents, now }: { readonly intents: IntentRules; readonly now: () => number },
  { id, bytes, actor, reason }: VoidIntent,
): Promise<number> {
  const frame = Buffer.from(bytes, "base64");
  const { intent } = verifyIntent(frame, await intents.bundle(), { local: now(), effective: now() });
  const [rollout] = await tx<Voided[]>`
    select chain_profile_id, group_id, intent_frame, created_at from rollouts where id = ${id}`;
  const fits =
    isVoid(intent) &&
    intent.cluster_id === intents.clusterId &&
    intent.rollout_id === id &&
    intent.chain_profile_id === rollout!.chain_profile_id;
  if (!fits) throw new FairleadError("INTENT_MISMATCH", "a cancel takes an empty intent for its own rollout");
  if (rollout!.intent_frame !== null && intent.serial <= serialOf(rollout!.intent_frame))
    throw new FairleadError(
      "INTENT_MISMATCH",
      "the empty intent's serial does not outdate the rollout's intent",
    );
  await refuseOutdatingLater(tx, id, rollout!, intent.serial); // (1)
  await tx`update rollouts set void_intent_frame = ${frame}, void_intent_serial = ${intent.serial} where id = ${id}`;
  const nodes = await tx<{ node_id: NodeId }[]>`select node_id from rollout_nodes where rollout_id = ${id}`;
  await notifyNodes(
    tx,
    nodes.map((node) => node.node_id),
  );
  const { group_id } = rollout!;
  const data = { reason, serial: intent.serial };
  await appendEvents(tx, [{ kind: "rollout.intent_voided", rollout_id: id, group_id, actor, data }]);
  return intent.serial;
}

/** The components of one group are called off together. */
async function refuseOutdatingLater(
  tx: Transaction,
  id: RolloutId,
  { chain_profile_id, group_id, created_at }: Voided,
  serial: number,
): Promise<void> {
  const later = await tx<{ id: RolloutId; intent_frame: Buffer }[]>`
    select id, intent_frame from rollouts
    where chain_profile_id = ${chain_profile_id} and id <> ${id} and intent_frame is not null
      and created_at >= ${created_at} and (group_id is null or group_id is distinct from ${group_id})`;
  const outdated = later.find((rollout) => serialOf(rollout.intent_frame) <= serial);
  if (outdated !== undefined)
    throw new FairleadError(
      "INTENT_MISMATCH",
      "the empty intent's serial would outdate the intent of a later rollout too",
      { rollout_id: outdated.id },
    );
}
