/**
 * Whether a signal may be given now, beyond what the table of states says. The server refuses by it, the console
 * greys out by it, and `decideRollout` asks it again: between asking and deciding the state may have moved.
 */
import type { ErrorCode } from "../error-codes.ts";
import { needsIntent } from "./members.ts";
import { can, isActive, type RolloutStatus, type SignalKind } from "./states.ts";

export interface SignalFacts {
  readonly status: RolloutStatus;
  readonly whyCode: string | null;
  readonly pauseRequested: boolean;
  readonly cancelRequested: boolean;
  readonly rollbackRequested: boolean;
  readonly rollbackAllowed: boolean;
  /** Nodes stand on its target, or may: there is something to roll back. */
  readonly hasOnTarget: boolean;
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly text: string;
}

const illegal = (text: string): Refusal => ({ code: "ILLEGAL_TRANSITION", text });

/** Null: it may. */
export function refusalOf(facts: SignalFacts, kind: SignalKind): Refusal | null {
  const { status, whyCode } = facts;
  if (kind === "resume" && status === "running" && facts.pauseRequested) return null; // takes the pause back
  if (!can(status, kind)) return illegal(`a ${status} rollout cannot be asked to ${words(kind)}`);
  switch (kind) {
    case "resume":
      return whyCode === "CANARY_APPROVAL"
        ? { code: "CANARY_NOT_APPROVED", text: "the canary waits for an approval; a resume is none" }
        : null;
    case "approve_canary":
      return whyCode === "CANARY_APPROVAL"
        ? null
        : illegal("no canary of this rollout waits for an approval");
    case "rollback":
      return rollbackRefusal(facts);
    case "pause":
    case "cancel":
    case "retry":
      if (facts.rollbackRequested) return illegal("a rollback was asked for; nodes at work finish first");
      return kind !== "cancel" && facts.cancelRequested
        ? illegal("a cancel was asked for; nodes at work finish first")
        : null;
    default:
      return null;
  }
}

function rollbackRefusal({
  status,
  whyCode,
  rollbackRequested,
  rollbackAllowed,
  hasOnTarget,
}: SignalFacts): Refusal | null {
  if (!isActive(status) && !hasOnTarget)
    return { code: "NOTHING_TO_ROLL_BACK", text: "no node of this rollout runs the version that it brought" };
  if (!rollbackAllowed) return { code: "ROLLBACK_REFUSED", text: "the signed intent allows no rollback" };
  if (rollbackRequested) return illegal("a rollback was asked for already");
  return status === "rolling_back" && !needsIntent(whyCode)
    ? illegal("the rollout is being rolled back already")
    : null;
}

const words = (kind: SignalKind): string => kind.replace("_", " ");
