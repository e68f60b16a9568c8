/** What `wait` takes, for a rollout and for a group. */
import { z } from "zod";
import { DurationMs } from "../options.ts";

/** A timer holds no more than 2^31 ms. */
const TIMEOUT_MAX_MS = 24 * 24 * 3_600_000;

export const WaitOptions = {
  for: z.enum(["done", "paused"]),
  timeout: DurationMs.refine((ms) => ms <= TIMEOUT_MAX_MS, "at most 24d"),
};
