/** How long to wait before a delivery is tried again: four times as long each time, up to hours, with jitter. */
import { LIMITS } from "../limits.ts";

/** `random` in [0, 1): receivers that were down together are not all asked again in the same moment. */
export function retryDelayMs(
  attempts: number,
  random: number,
  baseMs: number = LIMITS.webhookRetryBaseMs,
): number {
  const full = Math.min(baseMs * 4 ** (attempts - 1), LIMITS.webhookRetryMaxMs);
  return Math.round(full * (0.5 + random / 2));
}
