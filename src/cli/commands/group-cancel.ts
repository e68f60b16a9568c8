/** Cancels a group, and signs of each component that has not ended that it is called off. */
import { isActive } from "../../core/rollout/states.ts";
import type { Call, Result } from "../call.ts";
import { resolveGroup } from "../group/find.ts";
import { signalGroup } from "../group/signal.ts";
import { calledOff, cancelSigner } from "../rollout/called-off.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const before = await resolveGroup(session.api, call.args[0]!);
    const signer = await cancelSigner(call, session);
    const open = before.components.map(({ rollout }) => rollout).filter(({ status }) => isActive(status));
    const voids = open.flatMap((rollout) => {
      const intent = signer === null ? null : calledOff(call, session, signer, rollout);
      return intent === null ? [] : [{ rollout_id: rollout.id, intent }];
    });
    const more = voids.length === 0 ? {} : { void_intents: voids };
    const { group, effect } = await signalGroup(call, session.api, before, "cancel", more);
    const signed = voids.length === 0 ? "" : `, ${voids.length} of its components signed as called off,`;
    return { data: group, text: `cancel of group ${group.id}${signed} ${effect}` };
  });
