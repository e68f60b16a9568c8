/**
 * Cancels a rollout, and signs that it is called off: its nodes then refuse the intent that began it. With --sign also
 * what was cancelled before, in the console or by somebody without a release key.
 */
import { FairleadError } from "../../core/errors.ts";
import type { Call, Result } from "../call.ts";
import { resolveRollout } from "../resolve.ts";
import { calledOff, cancelSigner, isSignatureAlone } from "../rollout/called-off.ts";
import { signalRollout } from "../rollout/signal.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const rollout = await resolveRollout(session.api, call.args[0]!);
    const signer = await cancelSigner(call, session);
    const intent = signer === null ? null : await calledOff(call, session, signer, rollout);
    const isAlone = isSignatureAlone(call, rollout);
    if (isAlone && intent === null)
      throw new FairleadError(
        "ILLEGAL_TRANSITION",
        rollout.intent === null
          ? "no intent was signed for this rollout"
          : "its intent is called off already",
      );
    const { rollout: cancelled, effect } = await signalRollout(call, session.api, rollout, {
      verb: "cancel",
      intent,
    });
    if (isAlone)
      return {
        data: cancelled,
        text: `the cancel of rollout ${rollout.id} is signed: its nodes refuse its intent`,
      };
    const signed = intent === null ? "" : ", signed as called off,";
    return {
      data: cancelled,
      text: `cancel of rollout ${rollout.id}${signed} ${effect}${leftValid(cancelled)}`,
    };
  });

/** Without the signature whoever steals the control plane could go on with it. */
function leftValid({
  id,
  intent,
}: {
  readonly id: string;
  readonly intent: { voided: boolean; not_after: string } | null;
}): string {
  if (intent === null || intent.voided) return "";
  return `; its signed intent stays valid until ${intent.not_after}: call it off with fairlead rollout cancel ${id.slice(0, 8)} --sign`;
}
