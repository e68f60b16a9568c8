/**
 * Who was silent: the nodes, or the one who listens? While no control plane looked (it was stopped, or had no
 * database), no heartbeat could be stored. Silence counts from the end of such a gap.
 */
import { LIMITS } from "../limits.ts";

export interface Watch {
  readonly lastLookAt: number;
  readonly hearingSince: number;
}

export function nextWatch(watch: Watch | null, now: number): Watch {
  const isGap = watch === null || now - watch.lastLookAt > LIMITS.healthGapMs;
  return { lastLookAt: now, hearingSince: isGap ? now : watch.hearingSince };
}
