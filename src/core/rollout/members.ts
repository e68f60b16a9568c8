/**
 * Which signals a component of a group takes from a person. The server refuses by it, the console greys out by it, and
 * the CLI names what may be typed.
 *
 * 1. The group starts, pauses, resumes and ends its components: nobody does that behind its back.
 * 2. A component that waits for a person waits whatever its group does: what lets it on is asked of itself.
 */
import type { RolloutStatus, SignalKind } from "./states.ts";

export interface ComponentStanding {
  readonly status: RolloutStatus;
  readonly whyCode: string | null;
}

/** About its nodes and its failures, of which the group has no opinion. */
const ALWAYS_OPEN: readonly SignalKind[] = ["approve_canary", "force", "retry", "skip", "give_up"];

/** What lets a paused one on, by the code of its pause. */
const LETS_ON: Readonly<Record<string, SignalKind>> = {
  CANARY_APPROVAL: "approve_canary",
  INTENT_EXPIRED: "resume",
  INTENT_UNTRUSTED: "resume",
  UNAVAILABLE_LIMIT: "resume",
  RETRIED: "resume",
};

/** A second rollback brings the intent that a way back without a valid one waits for. */
export const needsIntent = (whyCode: string | null): boolean =>
  whyCode === "INTENT_EXPIRED" || whyCode === "INTENT_UNTRUSTED";

/** The signal of a person that a component waits for; null: it waits for nobody, or for its group. */
export function awaitedSignal({ status, whyCode }: ComponentStanding): SignalKind | null {
  if (status === "rolling_back") return needsIntent(whyCode) ? "rollback" : null;
  if (status !== "paused" || whyCode === null || !Object.hasOwn(LETS_ON, whyCode)) return null;
  return LETS_ON[whyCode]!;
}

export const componentTakes = (component: ComponentStanding, kind: SignalKind): boolean =>
  ALWAYS_OPEN.includes(kind) || awaitedSignal(component) === kind; // 1, 2
