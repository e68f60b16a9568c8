/**
 * The state of one program on a node outside upgrades (ROLL-15, ROLL-28): active ↔ degraded → failed → active, by what
 * heartbeats say of it.
 *
 * 1. A program in maintenance is not judged: an upgrade restarts it, and that is no alarm.
 * 2. Bad news must hold for a while (a crash loop has already), good news for longer: no state flaps with its probe.
 * 3. A program with an unresolved critical incident that a person must resolve does not become active by itself.
 * 4. While its node is late, the last report is stale: it degrades nothing, and a recovery begins anew.
 */
import { LIMITS } from "../limits.ts";
import { isLate } from "./presence.ts";

export const PROFILE_STATES = ["active", "maintenance", "degraded", "failed"] as const;
export type ProfileState = (typeof PROFILE_STATES)[number];

/** Restarts at the last look, and at the begin of the window that a crash loop is counted in. */
interface RestartMemory {
  readonly seenRestarts: number;
  readonly baseRestarts: number;
  readonly baseAt: number | null;
}

/** What one look leaves for the next. Times are milliseconds since the epoch. */
export interface HealthMemory extends RestartMemory {
  readonly wellSince: number | null;
  readonly illSince: number | null;
}

export interface ProgramFacts {
  readonly state: ProfileState;
  /** Observations of an earlier state count for nothing in this one. */
  readonly stateSince: number;
  /** The node's newest heartbeat, or its enrollment; never before a control plane could hear it. */
  readonly heardAt: number;
  readonly program: "critical" | "stalled" | "well";
  /** Since the program was started. */
  readonly restarts: number;
  readonly hasCriticalIncident: boolean;
  readonly memory: HealthMemory;
}

export type ProgramReason =
  | "CRASH_LOOP"
  | "PROGRAM_CRITICAL"
  | "PROGRAM_STALLED"
  | "PROGRAM_FAILED"
  | "RECOVERED";

export interface JudgedProgram {
  readonly state: ProfileState;
  /** Why the state changed; null when it did not. */
  readonly reason: ProgramReason | null;
  readonly memory: HealthMemory;
}

export const NO_MEMORY: HealthMemory = {
  wellSince: null,
  illSince: null,
  seenRestarts: 0,
  baseRestarts: 0,
  baseAt: null,
};

export function judgeProgram(facts: ProgramFacts, now: number): JudgedProgram {
  const { state } = facts;
  if (state === "maintenance") return same(state, facts.memory); // (1)
  if (isLate(facts.heardAt, now)) return same(state, { ...facts.memory, wellSince: null }); // (4)
  const memory = remember(facts, now);
  const bad = badNews(facts, memory, now);
  const changed = (to: ProfileState, reason: ProgramReason): JudgedProgram => ({ state: to, reason, memory });
  if (state === "active") return bad === null ? same(state, memory) : changed("degraded", bad);
  if (state === "degraded" && isFailed(facts, memory, now)) return changed("failed", "PROGRAM_FAILED");
  const isStable = lasted(memory.wellSince, facts, now) >= LIMITS.recoveryMs; // (2)
  return isStable && !facts.hasCriticalIncident ? changed("active", "RECOVERED") : same(state, memory); // (3)
}

/** For a program that is freed from maintenance: at once, because no look has judged it meanwhile. */
export function stateAfterMaintenance(facts: ProgramFacts, now: number): "active" | "degraded" {
  const isWell = !isLate(facts.heardAt, now) && facts.program === "well" && !facts.hasCriticalIncident;
  return isWell && !isCrashLoop(countRestarts(facts, now), now) ? "active" : "degraded";
}

const same = (state: ProfileState, memory: HealthMemory): JudgedProgram => ({ state, reason: null, memory });

const lasted = (since: number | null, { stateSince }: ProgramFacts, now: number): number =>
  since === null ? -1 : now - Math.max(since, stateSince);

function badNews(facts: ProgramFacts, memory: HealthMemory, now: number): ProgramReason | null {
  if (isCrashLoop(memory, now)) return "CRASH_LOOP";
  if (lasted(memory.illSince, facts, now) < LIMITS.programIllMs) return null; // (2)
  return facts.program === "critical" ? "PROGRAM_CRITICAL" : "PROGRAM_STALLED";
}

/** Degraded programs recover by themselves or with a little help; one that is not reached for so long needs a person. */
const isFailed = (facts: ProgramFacts, { illSince }: HealthMemory, now: number): boolean =>
  facts.program === "critical" && lasted(illSince, facts, now) >= LIMITS.programFailedMs;

function remember(facts: ProgramFacts, now: number): HealthMemory {
  const counted = countRestarts(facts, now);
  const isIll = facts.program !== "well";
  const isWell = !isIll && !isCrashLoop(counted, now);
  return {
    ...counted,
    illSince: isIll ? (facts.memory.illSince ?? now) : null,
    // An active program that is well has nothing to recover from.
    wellSince: isWell && facts.state !== "active" ? (facts.memory.wellSince ?? now) : null,
  };
}

/** A window begins with the first restart after a quiet time; a count that fell belongs to a program started anew. */
function countRestarts({ restarts, memory }: ProgramFacts, now: number): HealthMemory {
  if (restarts === memory.seenRestarts) return memory;
  if (restarts < memory.seenRestarts)
    return { ...memory, seenRestarts: restarts, baseRestarts: 0, baseAt: now };
  const isOpen = memory.baseAt !== null && now - memory.baseAt < LIMITS.crashLoopWindowMs;
  if (isOpen) return { ...memory, seenRestarts: restarts };
  return { ...memory, seenRestarts: restarts, baseRestarts: memory.seenRestarts, baseAt: now };
}

export const isCrashLoop = (memory: RestartMemory, now: number): boolean =>
  memory.baseAt !== null &&
  now - memory.baseAt < LIMITS.crashLoopWindowMs &&
  memory.seenRestarts - memory.baseRestarts >= LIMITS.crashLoopRestarts;
