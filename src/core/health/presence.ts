/**
 * The state of a node itself (ROLL-15, ROLL-28): active ↔ degraded ↔ down, by its heartbeats alone.
 *
 * 1. A node with a profile in maintenance is not judged: an upgrade may make the machine silent, which is no alarm.
 * 2. A node that was silent is active again only after its heartbeats came without a break for a while: no flapping.
 */
import { LIMITS } from "../limits.ts";

export const PRESENCES = ["active", "degraded", "down"] as const;
export type Presence = (typeof PRESENCES)[number];

export interface PresenceFacts {
  readonly state: Presence;
  readonly stateSince: number;
  /** The newest heartbeat, or the enrollment; never before a control plane could hear it. */
  readonly heardAt: number;
  readonly inMaintenance: boolean;
  /** Since when heartbeats have come without a break, as the look before found it. */
  readonly wellSince: number | null;
}

export type PresenceReason = "HEARTBEAT_LATE" | "HEARTBEAT_LOST" | "HEARTBEAT_BACK" | "RECOVERED";

export interface JudgedPresence {
  readonly state: Presence;
  /** Why the state changed; null when it did not. */
  readonly reason: PresenceReason | null;
  readonly wellSince: number | null;
}

export const isLate = (heardAt: number, now: number): boolean => now - heardAt >= LIMITS.heartbeatLateMs;

export function judgePresence(facts: PresenceFacts, now: number): JudgedPresence {
  const { state, heardAt, stateSince } = facts;
  if (facts.inMaintenance) return { state, reason: null, wellSince: facts.wellSince }; // (1)
  const late = isLate(heardAt, now);
  // An active node that is heard has nothing to recover from.
  const wellSince = late || state === "active" ? null : (facts.wellSince ?? now);
  const same: JudgedPresence = { state, reason: null, wellSince };
  const changed = (to: Presence, reason: PresenceReason): JudgedPresence => ({
    state: to,
    reason,
    wellSince,
  });
  if (now - heardAt >= LIMITS.heartbeatLostMs)
    return state === "down" ? same : changed("down", "HEARTBEAT_LOST");
  if (late) return state === "active" ? changed("degraded", "HEARTBEAT_LATE") : same;
  if (state === "down") return changed("degraded", "HEARTBEAT_BACK");
  const isStable = wellSince !== null && now - Math.max(wellSince, stateSince) >= LIMITS.recoveryMs; // (2)
  return state === "degraded" && isStable ? changed("active", "RECOVERED") : same;
}
