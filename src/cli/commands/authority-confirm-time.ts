/** Says that the control plane's clock is right (SNAP-17): this machine's own clock, or a time typed here, is the witness. */
import { z } from "zod";
import { Instant } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { TimeConfirmed } from "../../core/protocol/clock-api.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  reason: z.string().min(1).max(LIMITS.reasonCharsMax),
  time: Instant.optional(),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { reason, time = new Date(call.io.now()).toISOString() } = optionsOf(Options, call.options);
    const confirmed = await api.post("/api/v1/authority/confirm-time", { time, reason }, TimeConfirmed);
    const { server_time, problem } = confirmed;
    const standing = problem === null ? "signing goes on" : `signing is still stopped: ${problem}`;
    return { data: confirmed, text: `confirmed; the server's clock shows ${server_time}\n${standing}` };
  });
