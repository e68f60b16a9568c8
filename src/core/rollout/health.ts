/**
 * Health of a node after its upgrade (ROLL-15): the seed's five criteria and the running fingerprint.
 * Tolerates `syncing` and `degraded`: a node that has just started may be both.
 *
 * 1. The heartbeat that counts came after the start and near the end of the wait: a node that fell silent in
 *    between is not healthy by what it said before.
 */
import type { ErrorCode } from "../error-codes.ts";
import type { Digest } from "../ids.ts";
import type { APPLICATION_HEALTH, NodeState, SYNC_STATUS } from "../protocol/agent-api.ts";
import { LIMITS } from "../limits.ts";

export interface HealthFacts {
  /** When the newest heartbeat arrived, in ms; null when none ever did. */
  readonly heartbeatAt: number | null;
  readonly applicationHealth: (typeof APPLICATION_HEALTH)[number] | null;
  readonly syncStatus: (typeof SYNC_STATUS)[number] | null;
  readonly nodeState: NodeState;
  /** Within the health wait. */
  readonly restarts: number;
  readonly runningFingerprint: Digest | null;
}

export type HealthVerdict =
  | { readonly kind: "healthy" }
  | { readonly kind: "waiting" }
  | { readonly kind: "unhealthy"; readonly code: ErrorCode; readonly reason: string };

const unhealthy = (code: ErrorCode, reason: string): HealthVerdict => ({ kind: "unhealthy", code, reason });

const isGone = ({ nodeState }: HealthFacts): boolean => nodeState === "down" || nodeState === "failed";

/** The wait after which a node is judged. */
export interface HealthWait {
  /** When the program was started. */
  readonly startedAt: number;
  readonly due: number;
  /** Since when the control plane could hear the node. */
  readonly availableSince: number;
}

const isHeard = ({ heartbeatAt }: HealthFacts, { startedAt, due }: HealthWait): boolean =>
  heartbeatAt !== null && heartbeatAt >= Math.max(startedAt, due - LIMITS.healthHeartbeatGraceMs); // (1)

/** When a node that was not heard is judged without its heartbeat. */
export const silenceEndsAt = ({ due, availableSince }: Omit<HealthWait, "startedAt">): number =>
  Math.max(due + LIMITS.healthHeartbeatGraceMs, availableSince + LIMITS.reconnectGraceMs);

/** Nothing is missing any more, or it has been missing for long enough. */
export const canBeJudged = (facts: HealthFacts, wait: HealthWait, now: number): boolean =>
  isGone(facts) || isHeard(facts, wait) || now >= silenceEndsAt(wait);

/** Alive after the start and gone since is another thing than never heard of. */
function silent({ heartbeatAt }: HealthFacts, { startedAt }: HealthWait): HealthVerdict {
  return heartbeatAt !== null && heartbeatAt >= startedAt
    ? unhealthy("HEALTH_NODE_DOWN", "the node fell silent after its program had started")
    : unhealthy("HEALTH_NO_HEARTBEAT", "no heartbeat since the program started");
}

export function judgeHealth(
  facts: HealthFacts,
  wait: HealthWait,
  target: Digest,
  now: number,
): HealthVerdict {
  if (!canBeJudged(facts, wait, now)) return { kind: "waiting" };
  if (isGone(facts)) return unhealthy("HEALTH_NODE_DOWN", `the node is ${facts.nodeState}`);
  if (!isHeard(facts, wait)) return silent(facts, wait);
  if (facts.restarts >= LIMITS.crashLoopRestarts) {
    return unhealthy("HEALTH_CRASH_LOOP", `${facts.restarts} restarts within the health wait`);
  }
  if (facts.applicationHealth === "critical")
    return unhealthy("HEALTH_CRITICAL", "the program's probe is refused");
  if (facts.syncStatus === "stalled") return unhealthy("HEALTH_STALLED", "the program stopped syncing");
  if (facts.runningFingerprint !== target) {
    const running = facts.runningFingerprint ?? "nothing";
    return unhealthy("HEALTH_WRONG_FINGERPRINT", `runs ${running}, not ${target}`);
  }
  return { kind: "healthy" };
}
