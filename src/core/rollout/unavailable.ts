/** How many nodes of one label value may be away at once, counted before a batch takes more of them away. */
import type { BatchPart } from "./decision.ts";
import type { Draft, DraftNode } from "./draft.ts";
import type { NextBatch } from "./rows.ts";

interface OverLimit {
  readonly label: string;
  readonly value: string;
  readonly away: number;
  readonly nodes: number;
  readonly count: number;
}

const AWAY_STATES = ["down", "failed", "degraded"];

export function findOverLimit(draft: Draft, batch: NextBatch, part: BatchPart): OverLimit | null {
  const limit = draft.rollout.maxUnavailable;
  if (limit === null) return null;
  const isAway = part === "retried" ? isAtWork : isLost;
  for (const { value, nodes, away: elsewhere } of batch.byValue) {
    const here = draft.inBatch().filter((node) => node.labelValue === value && isAway(node));
    const away = elsewhere + here.length;
    if (away + nodes > limit.count) return { ...limit, value, away, nodes };
  }
  return null;
}

/** Nodes of the current batch are counted as this step leaves them. Those that wait are counted with who would join. */
const isLost = ({ status, facts, isAwayElsewhere }: DraftNode): boolean =>
  status !== "pending" &&
  (isAwayElsewhere ||
    status === "failed" ||
    status === "failed_rollback" ||
    AWAY_STATES.includes(facts.nodeState));

/** Beside retries: the states of the others were counted with them. */
const isAtWork = ({ status }: DraftNode): boolean => status === "in_progress";
