/** How many nodes of one label value may be away at once, counted before a batch takes more of them away. */
import type { BatchPart } from "./decision.ts";
import type { MaxUnavailable } from "./create.ts";
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
  return find(limit, countedValues(draft, batch, part), ({ away }) => away);
}

/** Within the limit, but for nodes that another program's upgrade has taken out of service. */
export function findOthersAtWork(draft: Draft, batch: NextBatch, part: BatchPart): OverLimit | null {
  const limit = draft.rollout.maxUnavailable;
  if (limit === null) return null;
  return find(limit, countedValues(draft, batch, part), ({ away, busy }) => away + busy);
}

type Counted = NextBatch["byValue"][number];

function find(
  limit: MaxUnavailable,
  values: readonly Counted[],
  awayOf: (counted: Counted) => number,
): OverLimit | null {
  for (const counted of values) {
    const { value, nodes } = counted;
    const away = awayOf(counted);
    if (away + nodes > limit.count) return { ...limit, value, away, nodes };
  }
  return null;
}

/** With the nodes of the current batch, as this step leaves them. */
function countedValues(draft: Draft, batch: NextBatch, part: BatchPart): Counted[] {
  const isAway = part === "retried" ? isAtWork : isLost;
  const isBusy = (node: DraftNode): boolean =>
    part !== "retried" && node.status !== "pending" && node.elsewhere === "busy" && !isLost(node);
  return batch.byValue.map(({ value, nodes, away, busy }) => {
    const here = draft.inBatch().filter((node) => node.labelValue === value);
    return { value, nodes, away: away + here.filter(isAway).length, busy: busy + here.filter(isBusy).length };
  });
}

/** Those that wait are counted with the nodes that would join. */
const isLost = ({ status, facts, elsewhere }: DraftNode): boolean =>
  status !== "pending" &&
  (elsewhere === "away" ||
    status === "failed" ||
    status === "failed_rollback" ||
    AWAY_STATES.includes(facts.nodeState));

/** Beside retries: the states of the others were counted with them. */
const isAtWork = ({ status }: DraftNode): boolean => status === "in_progress";
