/**
 * The absence of the control plane itself. While it was stopped or had no database, no heartbeat and no verdict could be
 * stored: silence of nodes and missing verdicts count from the end of such a gap.
 */
import { LIMITS } from "../limits.ts";

export interface Watch {
  readonly lastLookAt: number;
  readonly hearingSince: number;
}

/** Since when the control plane is available without a gap; since now, where the last look is a gap ago. */
export const availableSince = (watch: Watch | null, now: number): number =>
  nextWatch(watch, now).hearingSince;

export function nextWatch(watch: Watch | null, now: number): Watch {
  // A last look that lies ahead was dated by a clock that has been corrected since.
  const isGap = watch === null || Math.abs(now - watch.lastLookAt) > LIMITS.healthGapMs;
  return { lastLookAt: now, hearingSince: isGap ? now : watch.hearingSince };
}
