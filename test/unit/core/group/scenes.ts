/** Groups brought to where a test begins: three components of two nodes each, one batch each. */
import type { NodeId } from "../../../../src/core/ids.ts";
import type { ReportRow } from "../../../../src/core/rollout/rows.ts";
import { createGroupTable, type GroupTable, type GroupWish } from "../../../support/rollouts/group-table.ts";
import type { RolloutTable } from "../../../support/rollouts/rollout-table.ts";
import { atWork, COMPLETED, T0 } from "../../../support/rollouts/scenes.ts";

const PART = { nodes: 2, batchSize: 2, healthWaitMs: 0 };

export function startedGroup(wish: Partial<GroupWish> = {}): GroupTable {
  const group = createGroupTable({
    failurePolicy: "manual",
    components: [PART, PART, PART],
    healthWaitMs: 60_000,
    ...wish,
  });
  group.signal("start");
  group.settle(T0);
  return group;
}

/** Nodes at work report the same and are well; the group hears of what follows. */
export function reported(
  group: GroupTable,
  index: number,
  at: number,
  body: ReportRow["body"] = COMPLETED,
): void {
  const table = group.components[index]!;
  for (const nodeId of atWork(table)) {
    table.report(nodeId, at, body);
    table.heartbeat(nodeId, at);
  }
  group.settle(at);
}

export const beatAll = (table: RolloutTable, at: number): void => {
  for (const nodeId of idsOf(table)) table.heartbeat(nodeId, at);
};
const idsOf = (table: RolloutTable): NodeId[] => table.nodes.map(({ nodeId }) => nodeId);

/** The component completes and keeps well through the watch after it. */
export function componentSucceeds(group: GroupTable, index: number, at: number): number {
  reported(group, index, at);
  const due = group.group().gateUntil!;
  beatAll(group.components[index]!, due);
  group.settle(due);
  return due;
}
