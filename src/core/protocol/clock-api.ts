/** What the operators' API says about the clocks of the control plane. */
import { z } from "zod";
import { Instant } from "../ids.ts";
import { LIMITS } from "../limits.ts";

export const ConfirmTimeRequest = z.strictObject({
  /** The true time, as the operator knows it. */
  time: Instant,
  reason: z.string().min(1).max(LIMITS.reasonCharsMax),
});
export type ConfirmTimeRequest = z.infer<typeof ConfirmTimeRequest>;

export const TimeConfirmed = z.object({
  server_time: Instant,
  /** The server's clock minus the time that was confirmed. */
  difference_ms: z.int(),
  /** Why this replica still signs nothing; null when it does. */
  problem: z.string().nullable(),
});
export type TimeConfirmed = z.infer<typeof TimeConfirmed>;
