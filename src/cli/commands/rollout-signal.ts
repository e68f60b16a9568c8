/** start and pause: one shape, two words. */
import { z } from "zod";
import { LIMITS } from "../../core/limits.ts";
import { RolloutView } from "../../core/protocol/operator-api.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { resolveRollout } from "../resolve.ts";
import { withSession } from "../session.ts";

const Options = z.object({ reason: z.string().max(LIMITS.reasonCharsMax).optional() });

export const signalCommand = (signal: string) => ({
  run: (call: Call): Promise<Result> =>
    withSession(call, async ({ api }) => {
      const { reason } = optionsOf(Options, call.options);
      const { id } = await resolveRollout(api, call.args[0]!);
      const body = reason === undefined ? {} : { reason };
      const rollout = await api.post(`/api/v1/rollouts/${id}/${signal}`, body, RolloutView);
      return { data: rollout, text: `${signal} of rollout ${id} is noted; it is ${standing(rollout)}` };
    }),
});

/** A signal takes effect at the batch boundary: until then the rollout runs on. */
function standing({ status, pause_requested }: RolloutView): string {
  if (pause_requested && status === "running") return "running and pauses after this batch";
  return status;
}
