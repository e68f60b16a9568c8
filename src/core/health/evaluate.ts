/**
 * The state of a node outside upgrades (ROLL-15): active ↔ degraded ↔ down, from its heartbeats and programs.
 *
 * 1. A node in maintenance is not judged: an upgrade makes it silent and restarts its program, and that is no alarm.
 *    Nor is a failed one, which only a person takes back.
 * 2. Bad news must hold for a while (a crash loop has already), good news for longer: no node flaps with its probe.
 * 3. A node with an unresolved critical incident does not become active by itself.
 */
import { LIMITS } from "../limits.ts";
import type { NodeState } from "../protocol/agent-api.ts";

/** What one look leaves for the next. Times are milliseconds since the epoch. */
export interface HealthMemory {
  readonly wellSince: number | null;
  readonly illSince: number | null;
  /** Restarts at the last look, and at the begin of the window that a crash loop is counted in. */
  readonly seenRestarts: number;
  readonly baseRestarts: number;
  readonly baseAt: number | null;
}

export interface NodeFacts {
  readonly state: NodeState;
  /** What was observed before, in another state, counts for nothing in this one. */
  readonly stateSince: number;
  /** Its newest heartbeat, or its enrollment; never before somebody could hear it. */
  readonly heardAt: number;
  /** The worst of its programs. */
  readonly program: "critical" | "stalled" | "well";
  /** Of all its programs since each was started. */
  readonly restarts: number;
  readonly hasCriticalIncident: boolean;
  readonly memory: HealthMemory;
}

export type HealthReason =
  | "HEARTBEAT_LATE"
  | "HEARTBEAT_LOST"
  | "HEARTBEAT_BACK"
  | "CRASH_LOOP"
  | "PROGRAM_CRITICAL"
  | "PROGRAM_STALLED"
  | "RECOVERED";

export interface Evaluated {
  readonly state: NodeState;
  /** Why the state changed; null when it did not. */
  readonly reason: HealthReason | null;
  readonly memory: HealthMemory;
}

export const NO_MEMORY: HealthMemory = {
  wellSince: null,
  illSince: null,
  seenRestarts: 0,
  baseRestarts: 0,
  baseAt: null,
};

export function evaluateNode(facts: NodeFacts, now: number): Evaluated {
  const { state } = facts;
  if (state === "maintenance" || state === "failed") return { state, reason: null, memory: facts.memory }; // (1)
  const memory = remember(facts, now);
  const bad = badNews(facts, memory, now);
  const changed = (to: NodeState, reason: HealthReason): Evaluated => ({ state: to, reason, memory });
  if (bad === "HEARTBEAT_LOST") return state === "down" ? same(state, memory) : changed("down", bad);
  if (state === "active") return bad === null ? same(state, memory) : changed("degraded", bad);
  if (state === "down")
    return bad === "HEARTBEAT_LATE" ? same(state, memory) : changed("degraded", "HEARTBEAT_BACK");
  const isStable = lasted(memory.wellSince, facts, now) >= LIMITS.recoveryMs; // (2)
  return isStable && !facts.hasCriticalIncident ? changed("active", "RECOVERED") : same(state, memory); // (3)
}

/** For a node that is freed from maintenance: at once, for nobody has looked at it in the meantime. */
export function stateAfterMaintenance(facts: NodeFacts, now: number): "active" | "degraded" {
  const isWell = !isLate(facts, now) && facts.program === "well" && !facts.hasCriticalIncident;
  return isWell && !isCrashLoop(facts, countRestarts(facts, now), now) ? "active" : "degraded";
}

const same = (state: NodeState, memory: HealthMemory): Evaluated => ({ state, reason: null, memory });
const isLate = ({ heardAt }: NodeFacts, now: number): boolean => now - heardAt >= LIMITS.heartbeatLateMs;

const lasted = (since: number | null, { stateSince }: NodeFacts, now: number): number =>
  since === null ? -1 : now - Math.max(since, stateSince);

function badNews(facts: NodeFacts, memory: HealthMemory, now: number): HealthReason | null {
  if (now - facts.heardAt >= LIMITS.heartbeatLostMs) return "HEARTBEAT_LOST";
  if (isLate(facts, now)) return "HEARTBEAT_LATE";
  if (isCrashLoop(facts, memory, now)) return "CRASH_LOOP";
  if (lasted(memory.illSince, facts, now) < LIMITS.programIllMs) return null; // (2)
  return facts.program === "critical" ? "PROGRAM_CRITICAL" : "PROGRAM_STALLED";
}

function remember(facts: NodeFacts, now: number): HealthMemory {
  const counted = countRestarts(facts, now);
  const isIll = facts.program !== "well";
  const isWell = !isIll && !isLate(facts, now) && !isCrashLoop(facts, counted, now);
  return {
    ...counted,
    illSince: isIll ? (facts.memory.illSince ?? now) : null,
    // An active node that is well has nothing to recover from.
    wellSince: isWell && facts.state !== "active" ? (facts.memory.wellSince ?? now) : null,
  };
}

/** A window begins with the first restart after a quiet time; a count that fell belongs to a program started anew. */
function countRestarts({ restarts, memory }: NodeFacts, now: number): HealthMemory {
  if (restarts === memory.seenRestarts) return memory;
  if (restarts < memory.seenRestarts)
    return { ...memory, seenRestarts: restarts, baseRestarts: 0, baseAt: now };
  const isOpen = memory.baseAt !== null && now - memory.baseAt < LIMITS.crashLoopWindowMs;
  if (isOpen) return { ...memory, seenRestarts: restarts };
  return { ...memory, seenRestarts: restarts, baseRestarts: memory.seenRestarts, baseAt: now };
}

const isCrashLoop = ({ restarts }: NodeFacts, { baseAt, baseRestarts }: HealthMemory, now: number): boolean =>
  baseAt !== null &&
  now - baseAt < LIMITS.crashLoopWindowMs &&
  restarts - baseRestarts >= LIMITS.crashLoopRestarts;
