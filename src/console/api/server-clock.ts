/**
 * The server's clock as far as answers tell it: ages of heartbeats are differences to times that the server wrote, and a
 * browser whose own clock is minutes off would take every node for silent, or none.
 */

/** A `Date` header has whole seconds, and an answer takes its time: a difference up to this is none. */
const NOISE_MS = 5_000;

let offsetMs = 0;

/** `answeredAt`: the answer's `Date` header in milliseconds; 0 where it has none. */
export function noteServerTime(answeredAt: number, now: number): void {
  if (answeredAt === 0) return;
  const difference = answeredAt - now;
  offsetMs = Math.abs(difference) <= NOISE_MS ? 0 : difference;
}

export const serverNow = (now: number): number => now + offsetMs;
