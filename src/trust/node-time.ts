/**
 * Time as a node judges signed frames by it (SNAP-17, ADR 21).
 *
 * 1. Effective time is the later of the machine's clock and the floor, the newest signed time that was accepted.
 * 2. A frame raises the floor by at most `LIMITS.issuedAheadMaxMs` beyond effective time; one further ahead is refused.
 * 3. An unset clock measures nothing. Without one, a root-signed bundle or a head may raise the floor by any amount:
 *    nothing else could tell the node the time, and the bundle's own end bounds the head.
 */
import { LIMITS } from "../core/limits.ts";
import type { TimeWindow } from "./trusted-keys.ts";

export const AHEAD_REASON = `more than ${LIMITS.issuedAheadMaxMs / 60_000} minutes ahead of this node's clock and floor`;

/** `floor` in milliseconds; null before the first signed time was accepted. */
export function timeWindow(local: number, floor: number | null): TimeWindow {
  const known = floor ?? 0;
  const effective = Math.max(local, known); // (1)
  const isUnset = local < LIMITS.clockUnsetBeforeMs || local < known - LIMITS.clockBehindFloorMaxMs;
  return isUnset ? { local: effective, effective, clockless: true } : { local, effective };
}

/** `tellsTime`: the frame is a root-signed bundle or a head. */
export function isTooFarAhead(
  issuedAt: string,
  { local, effective, clockless = false }: TimeWindow,
  { tellsTime = false }: { readonly tellsTime?: boolean } = {},
): boolean {
  if (clockless && tellsTime) return false; // (3)
  return Date.parse(issuedAt) > Math.max(local, effective) + LIMITS.issuedAheadMaxMs; // (2)
}
