/**
 * Cancels a group, and signs of each component that has not ended that it is called off. With --sign also the components
 * of a group that has ended, where they were cancelled without a signature.
 */
import { FairleadError } from "../../core/errors.ts";
import { isGroupActive } from "../../core/group/states.ts";
import type { GroupView } from "../../core/protocol/group-api.ts";
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import { isActive } from "../../core/rollout/states.ts";
import type { Signer } from "../../trust/keys.ts";
import type { Call, Result } from "../call.ts";
import { readGroup, resolveGroup } from "../group/find.ts";
import { signalGroup } from "../group/signal.ts";
import { calledOff, cancelSigner, isSignatureAlone } from "../rollout/called-off.ts";
import { signalRollout } from "../rollout/signal.ts";
import { withSession, type Session } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const before = await resolveGroup(session.api, call.args[0]!);
    const signer = await cancelSigner(call, session);
    const rollouts = before.components.map(({ rollout }) => rollout);
    const unsigned = rollouts.filter((rollout) => isSignatureAlone(call, rollout) && isOpenIntent(rollout));
    if (signer !== null && unsigned.length > 0 && !isGroupActive(before.status))
      return signCancelled(call, session, signer, before, unsigned);
    const voids: { rollout_id: RolloutView["id"]; intent: string }[] = [];
    for (const rollout of rollouts.filter(({ status }) => isActive(status))) {
      const intent = signer === null ? null : await calledOff(call, session, signer, rollout);
      if (intent !== null) voids.push({ rollout_id: rollout.id, intent });
    }
    const more = voids.length === 0 ? {} : { void_intents: voids };
    const { group, effect } = await signalGroup(call, session.api, before, "cancel", more);
    const signed = voids.length === 0 ? "" : `, ${voids.length} of its components signed as called off,`;
    return { data: group, text: `cancel of group ${group.id}${signed} ${effect}` };
  });

const isOpenIntent = ({ intent }: RolloutView): boolean => intent !== null && !intent.voided;

async function signCancelled(
  call: Call,
  session: Session,
  signer: Signer,
  before: GroupView,
  unsigned: readonly RolloutView[],
): Promise<Result> {
  for (const rollout of unsigned) {
    const intent = await calledOff(call, session, signer, rollout);
    if (intent === null)
      throw new FairleadError("STATE_MOVED", `rollout ${rollout.id} was called off just now`);
    await signalRollout(call, session.api, rollout, { verb: "cancel", intent });
  }
  return {
    data: await readGroup(session.api, before.id),
    text: `the cancel of ${componentsText(unsigned.length)} of group ${before.id} is signed: their nodes refuse their intents`,
  };
}

const componentsText = (count: number): string => (count === 1 ? "1 component" : `${count} components`);
