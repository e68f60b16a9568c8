/** The nodes of a rollout by batch, and what each batch is doing. */
import type { NodeUpgradeView, RolloutView } from "../../../core/protocol/operator-api.ts";
import { isSettled, NODE_UPGRADE_STATUSES, type NodeUpgradeStatus } from "../../../core/rollout/states.ts";
import type { Tone } from "../../ui/tones.ts";

export type Counts = Readonly<Record<NodeUpgradeStatus, number>>;
export type BatchState = "waiting" | "upgrading" | "observing" | "done" | "failed" | "skipped";

export interface Batch {
  readonly index: number;
  readonly nodes: readonly NodeUpgradeView[];
  readonly counts: Counts;
  readonly state: BatchState;
}

export const BATCH_LOOKS: Record<BatchState, { tone: Tone; label: string }> = {
  waiting: { tone: "neutral", label: "Waiting" },
  upgrading: { tone: "info", label: "Upgrading" },
  observing: { tone: "info", label: "Observing health" },
  done: { tone: "good", label: "Done" },
  failed: { tone: "bad", label: "With failures" },
  skipped: { tone: "neutral", label: "Skipped" },
};

type Position = Pick<RolloutView, "current_batch" | "health_until">;

export function groupBatches(nodes: readonly NodeUpgradeView[], position: Position): readonly Batch[] {
  const byIndex = Map.groupBy(nodes, (node) => node.batch_index);
  return [...byIndex]
    .toSorted(([a], [b]) => a - b)
    .map(([index, members]) => {
      const counts = countStatuses(members);
      return { index, nodes: members, counts, state: stateOf(index, counts, members.length, position) };
    });
}

export function countStatuses(nodes: readonly Pick<NodeUpgradeView, "status">[]): Counts {
  const counts = Object.fromEntries(NODE_UPGRADE_STATUSES.map((status) => [status, 0])) as Record<
    NodeUpgradeStatus,
    number
  >;
  for (const { status } of nodes) counts[status] += 1;
  return counts;
}

export const settledCount = (counts: Counts): number =>
  NODE_UPGRADE_STATUSES.reduce((sum, status) => sum + (isSettled(status) ? counts[status] : 0), 0);

function stateOf(
  index: number,
  counts: Counts,
  total: number,
  { current_batch, health_until }: Position,
): BatchState {
  if (counts.in_progress > 0)
    return index === current_batch && health_until !== null ? "observing" : "upgrading";
  if (counts.skipped === total) return "skipped";
  if (counts.failed + counts.failed_rollback > 0) return "failed";
  return counts.pending > 0 ? "waiting" : "done";
}
