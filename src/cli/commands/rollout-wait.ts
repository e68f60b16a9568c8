/**
 * Waits for a rollout, for scripts: the exit code says how it stands.
 * An event says that something changed; the rollout itself, read again, says what is true now.
 */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import type { RolloutStatus } from "../../core/rollout/states.ts";
import type { Call, Result } from "../call.ts";
import { knownEvent } from "../events/data.ts";
import { followRollout } from "../events/follow.ts";
import { patiently } from "../events/transient.ts";
import { optionsOf } from "../options.ts";
import { readRollout, resolveRollout } from "../resolve.ts";
import { exitOfStatus, hasEnded } from "../rollout/ending.ts";
import { withSession } from "../session.ts";
import { WaitOptions } from "../signals/wait-options.ts";

const Options = z.object(WaitOptions);

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const options = optionsOf(Options, call.options);
    const isMet = (status: RolloutStatus): boolean =>
      hasEnded(status) || (options.for === "paused" && status === "paused");
    const signal = AbortSignal.timeout(options.timeout);
    let rollout = await resolveRollout(api, call.args[0]!);
    if (!isMet(rollout.status)) {
      for await (const event of followRollout(api, rollout.id, { signal, onLost: () => undefined })) {
        const known = knownEvent(event);
        if (known.kind !== "rollout.status" || !isMet(known.to)) continue;
        rollout = await patiently(signal, () => readRollout(api, rollout.id)); // an old pause may be over
        if (isMet(rollout.status)) break;
      }
    }
    if (!isMet(rollout.status)) throw await timedOut(rollout, () => readRollout(api, rollout.id));
    const why = rollout.why === null ? "" : `  ${rollout.why.code}: ${rollout.why.text}`;
    return {
      data: rollout,
      text: `rollout ${rollout.id} ${rollout.status}${why}`,
      exit: exitOfStatus(rollout.status),
    };
  });

async function timedOut(before: RolloutView, reread: () => Promise<RolloutView>): Promise<FairleadError> {
  const { id, status, why } = await reread().catch(() => before);
  const because = why === null ? "" : ` (${why.code}: ${why.text})`;
  return new FairleadError("TIMEOUT", `rollout ${id} is still ${status}${because}`, {
    rollout_id: id,
    status,
    why,
  });
}
