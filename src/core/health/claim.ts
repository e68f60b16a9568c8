/**
 * What may be claimed about a node's programs now. Console, CLI, API and metrics all read it here.
 *
 * 1. A report speaks for the moment it was received. Once its node is late (ROLL-30), down, revoked or not enrolled,
 *    health and sync are unknown.
 * 2. The last report stays beside the claim, with its time: "unknown, 3 min old".
 */
import { LIMITS } from "../limits.ts";
import {
  APPLICATION_HEALTH,
  SYNC_STATUS,
  type NodeState,
  type ProgramReport,
} from "../protocol/agent-api.ts";

/** How a node is heard from: `late` has missed three heartbeats in a row, `lost` is taken for down. */
export const CONTACTS = ["never", "current", "late", "lost"] as const;
export type Contact = (typeof CONTACTS)[number];

export const CLAIMED_HEALTH = [...APPLICATION_HEALTH, "unknown"] as const;
export const CLAIMED_SYNC = [...SYNC_STATUS, "unknown"] as const;
export type ClaimedHealth = (typeof CLAIMED_HEALTH)[number];
export type ClaimedSync = (typeof CLAIMED_SYNC)[number];

export interface Heard {
  readonly state: NodeState;
  readonly isEnrolled: boolean;
  readonly isRevoked: boolean;
  /** Of the newest heartbeat, in milliseconds since the epoch; null before the first. */
  readonly heardAt: number | null;
}

export function contactOf({ state, isEnrolled, isRevoked, heardAt }: Heard, now: number): Contact {
  if (heardAt === null) return "never";
  const age = now - heardAt;
  if (isRevoked || !isEnrolled || state === "down" || age >= LIMITS.heartbeatLostMs) return "lost";
  return age >= LIMITS.heartbeatLateMs ? "late" : "current";
}

interface Claim {
  readonly application_health: ClaimedHealth;
  readonly sync_status: ClaimedSync;
}

const UNKNOWN: Claim = { application_health: "unknown", sync_status: "unknown" };

export const claimOf = ({ application_health, sync_status }: Claim, contact: Contact): Claim =>
  contact === "current" ? { application_health, sync_status } : UNKNOWN; // (1)

/** The report with its claim, and what it said itself with its time. */
export const claimedProgram = (report: ProgramReport, contact: Contact, asOf: string) => ({
  ...report,
  ...claimOf(report, contact),
  as_of: asOf,
  last_reported: { application_health: report.application_health, sync_status: report.sync_status }, // (2)
});

/** Of several programs, the worst one speaks for the node. The lists run from best to worst; unknown is worse than all. */
export const worstHealth = (claims: readonly ClaimedHealth[]): ClaimedHealth =>
  CLAIMED_HEALTH.findLast((value) => claims.includes(value)) ?? "unknown";
export const worstSync = (claims: readonly ClaimedSync[]): ClaimedSync =>
  CLAIMED_SYNC.findLast((value) => claims.includes(value)) ?? "unknown";

/** The judged state of a program in words: of a node that is not heard from, it is of the past. */
export const judgedText = (state: string, contact: Contact): string =>
  contact === "current"
    ? state
    : contact === "never"
      ? "not heard from yet"
      : `${state} when last heard from`;
