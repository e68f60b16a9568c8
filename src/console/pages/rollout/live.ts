/**
 * Events folded into the rows that the page shows, until the rows are read again.
 *
 * 1. A row that no event touches keeps its identity, so its cell is not drawn again.
 * 2. What the rows already contain is not folded in a second time: a replay would show the past for a moment.
 * 3. An event is dated before its step is committed, and by another clock than the answer with the rows. Rows that were
 *    read about then may lack it, whatever the times say: they are read again.
 */
import type { NodeUpgradeView, RolloutView } from "../../../core/protocol/operator-api.ts";
import { isSettled } from "../../../core/rollout/states.ts";
import { actionIndexOf, progressAt } from "../../../core/upgrade/phases.ts";
import type { EventOf, FleetEvent } from "../../api/events.ts";

/** More than a commit takes and clocks differ; rows that are read once too often do no harm. */
const DOUBT_MS = 60_000;

export const mayLackAny = (events: readonly FleetEvent[], asOf: number): boolean =>
  events.some((event) => Date.parse(event.at) >= asOf - DOUBT_MS); // 3

export const eventsSince = (events: readonly FleetEvent[], asOf: number): readonly FleetEvent[] =>
  events.filter((event) => Date.parse(event.at) >= asOf); // 2

export function foldNodes(
  nodes: readonly NodeUpgradeView[],
  events: readonly FleetEvent[],
): readonly NodeUpgradeView[] {
  const upgrades = new Map<string, EventOf<"node.upgrade">>();
  const silences = new Map<string, string | null>();
  const opened = new Map<number, NodeUpgradeView["direction"]>();
  for (const event of events) {
    if (event.kind === "rollout.batch") opened.set(event.data.batch, event.data.direction);
    if (event.kind === "node.upgrade" && event.nodeId !== null) upgrades.set(event.nodeId, event);
    if (event.kind === "node.silent" && event.nodeId !== null) silences.set(event.nodeId, event.data.since);
    if (event.kind === "node.heard" && event.nodeId !== null) silences.set(event.nodeId, null);
  }
  if (upgrades.size === 0 && opened.size === 0 && silences.size === 0) return nodes;
  return nodes.map((row) => {
    const silence = silences.get(row.node_id);
    const node = silence === undefined ? row : { ...row, silent_since: silence };
    const upgrade = upgrades.get(node.node_id);
    if (upgrade !== undefined) return withUpgrade(node, upgrade);
    const direction = opened.get(node.batch_index);
    return direction !== undefined && node.status === LAUNCHED_FROM[direction]
      ? launched(node, direction)
      : node; // 1
  });
}

export function foldRollout(rollout: RolloutView, events: readonly FleetEvent[]): RolloutView {
  let folded = rollout;
  for (const event of events) {
    if (event.kind === "rollout.status") folded = { ...folded, status: event.data.to, why: event.data.why };
    if (event.kind === "rollout.batch")
      folded = { ...folded, current_batch: event.data.batch, health_until: null };
  }
  return folded;
}

/** A whole batch is launched by one event: on the way back, those of its nodes that stand on the target. */
const LAUNCHED_FROM = { forward: "pending", reverse: "succeeded" } as const;

const launched = (node: NodeUpgradeView, direction: NodeUpgradeView["direction"]): NodeUpgradeView => ({
  ...node,
  status: "in_progress",
  upgrade_phase: "PREPARING",
  waiting_for: null,
  direction,
});

function withUpgrade(node: NodeUpgradeView, { at, data }: EventOf<"node.upgrade">): NodeUpgradeView {
  const settled = isSettled(data.status);
  return {
    ...node,
    status: data.status,
    retry_requested: node.retry_requested && data.status === "failed",
    silent_since: settled ? null : node.silent_since,
    direction: data.direction ?? node.direction,
    upgrade_phase: settled ? null : data.phase,
    action_index: actionIndexOf(data.action),
    action_name: data.action,
    waiting_for: settled ? null : data.waitingFor,
    progress_pct: data.status === "succeeded" ? 100 : progressOf(data.action, node.progress_pct),
    error_code: data.error?.code ?? node.error_code,
    error_message: data.error?.text ?? node.error_message,
    ended_at: settled ? (node.ended_at ?? at) : null,
  };
}

function progressOf(action: string | null, before: number): number {
  const index = actionIndexOf(action);
  return index === null ? before : progressAt(index).progress_pct;
}
