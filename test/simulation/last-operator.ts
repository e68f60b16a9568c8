/**
 * The one who comes when nothing moves any more. What waits is gone on with for a while, under a renewed intent where
 * its window has closed; what still waits then is called off. Nothing may be left over after that.
 */
import type { Refusal } from "../../src/core/rollout/allow.ts";
import { refusalOf } from "../../src/core/rollout/allow.ts";
import { isActive, type SignalKind } from "../../src/core/rollout/states.ts";
import type { RolloutTable } from "../support/rollouts/rollout-table.ts";
import type { World } from "./fleet.ts";
import { isOpenToMember } from "./operators.ts";
import { holds, type Rule } from "./violation.ts";

const MINUTE_MS = 60_000;
const WINDOW_MS = 24 * 3_600_000;
/** Each batch of each component may stop once more. */
const ROUNDS_MAX = 100;
const RULE: Rule = "a person can bring everything to its end";

export interface Left {
  /** What is still active; null when all has ended. */
  left(): string | null;
  /** Does the next of it; `callsOff` when nobody wants to go on any more. */
  settle(now: number, callsOff: boolean): void;
}

/** Answers with what was found waiting at first. */
export function settleAll({ time, random, server }: World, { left, settle }: Left): string | null {
  const patience = random.below(6);
  const found = left();
  for (let round = 0; left() !== null; round++) {
    holds(round < ROUNDS_MAX, RULE, `it is ${left()!} after ${round} rounds`);
    const at = server.reachableAt(time.now() + MINUTE_MS);
    time.after(at, (now) => settle(now, round >= patience));
    time.runAll();
  }
  return found;
}

export interface LeftRollout {
  readonly table: RolloutTable;
  readonly nudge: (at: number) => void;
  readonly isComponent: boolean;
}

export function settleRollout(
  { table, nudge, isComponent }: LeftRollout,
  now: number,
  callsOff: boolean,
): void {
  const rollout = table.rollout();
  if (!isActive(rollout.status)) return;
  const kind = nextSignal(table, callsOff && !isComponent);
  if (isComponent && !isOpenToMember(rollout, kind)) return; // its group's to settle
  const facts = { ...rollout, whyCode: rollout.why?.code ?? null, hasOnTarget: table.hasOnTarget() };
  mustBeAllowed(kind, refusalOf(facts, kind));
  const isOver = rollout.intentNotAfter !== null && rollout.intentNotAfter <= now;
  if (isOver && kind !== "cancel" && kind !== "start") table.renewIntent(now + WINDOW_MS);
  table.signal(kind);
  nudge(now);
}

function nextSignal(table: RolloutTable, callsOff: boolean): SignalKind {
  const { status, why } = table.rollout();
  if (status === "rolling_back") return "rollback";
  if (callsOff) return "cancel";
  if (status === "pending") return "start";
  return why?.code === "CANARY_APPROVAL" ? "approve_canary" : "resume";
}

export const mustBeAllowed = (kind: string, refusal: Refusal | null): void =>
  holds(refusal === null, RULE, `${kind} is refused: ${refusal?.text ?? ""}`);
