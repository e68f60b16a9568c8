/** How many nodes of one label value may be away at once, counted before a batch takes more of them away. */
import type { Draft } from "./draft.ts";

interface OverLimit {
  readonly label: string;
  readonly value: string;
  readonly away: number;
  readonly nodes: number;
  readonly count: number;
}

const AWAY_STATES = ["down", "failed", "degraded"];

export function findOverLimit(draft: Draft): OverLimit | null {
  const limit = draft.rollout.maxUnavailable;
  if (limit === null || draft.next === null) return null;
  for (const { value, nodes, away: elsewhere } of draft.next.byValue) {
    const away = elsewhere + awayHere(draft, value);
    if (away + nodes > limit.count) return { ...limit, value, away, nodes };
  }
  return null;
}

/** Nodes of the current batch are counted as this step leaves them. */
const awayHere = (draft: Draft, value: string): number =>
  draft.inBatch().filter(
    ({ labelValue, status, facts }) =>
      labelValue === value &&
      status !== "pending" && // counted with those that would join
      (status === "failed" || status === "failed_rollback" || AWAY_STATES.includes(facts.nodeState)),
  ).length;
