/** What agents say, and rollouts brought to where a test begins. */
import type { NodeId } from "../../../src/core/ids.ts";
import type { ReportRow } from "../../../src/core/rollout/rows.ts";
import { type AgentVerdict, progressAt } from "../../../src/core/upgrade/phases.ts";
import type { TableWish } from "./created-rows.ts";
import { createRolloutTable, type RolloutTable } from "./rollout-table.ts";

type Body = ReportRow["body"];
export const T0 = Date.UTC(2026, 0, 15, 12);
const AT = new Date(T0).toISOString();

const verdict = (verdict: AgentVerdict, error_code: string | null = null): Body => ({
  kind: "verdict",
  verdict,
  error_code,
  error_message: error_code === null ? null : `because of ${error_code}`,
  started_at: AT,
  ended_at: AT,
});
export const COMPLETED = verdict("COMPLETED");
export const FAILED = verdict("FAILED", "ACTION_TIMEOUT");
export const FAILED_ROLLBACK = verdict("FAILED_ROLLBACK", "COMPENSATION_FAILED");
export const progress = (index: number): Body => ({ kind: "progress", progress: progressAt(index) });
export const refused = (code: string): Body => ({
  kind: "refused",
  rejection: { code, subject: "command 1", reason: `because of ${code}`, at: AT },
});

/** Started, with its first batch at work. */
export function started(wish: TableWish): RolloutTable {
  const table = createRolloutTable(wish);
  table.signal("start");
  table.advance(T0);
  return table;
}

/** Advanced until it has nothing left to do at once. */
export function advanceAll(table: RolloutTable, at: number): void {
  do table.advance(at);
  while (table.wakeAt() === at + 1);
}

export const atWork = (table: RolloutTable): NodeId[] =>
  table.nodes.filter((node) => node.status === "in_progress").map((node) => node.nodeId);

/** Every node at work reports the same, and says by heartbeat that it is well. */
export function everyoneReports(table: RolloutTable, at: number, body: Body = COMPLETED): void {
  for (const nodeId of atWork(table)) {
    table.report(nodeId, at, body);
    table.heartbeat(nodeId, at);
  }
  table.advance(at);
}

/** The batch at work is installed and passes its health wait; heartbeats come to its end. */
export function batchSucceeds(table: RolloutTable, at: number): number {
  everyoneReports(table, at);
  const due = table.rollout().healthUntil!;
  for (const nodeId of atWork(table)) table.heartbeat(nodeId, due - 1);
  table.advance(due);
  return due;
}

/** What goes back reports so, and is well on its previous version to the end of its wait. */
export function goesBackWell(table: RolloutTable, at: number): number {
  everyoneReports(table, at);
  const due = at + table.rollout().healthWaitMs;
  for (const nodeId of atWork(table)) table.heartbeat(nodeId, due);
  table.advance(due);
  return due;
}

export const lastSignal = (table: RolloutTable) =>
  table.events.findLast(({ kind }) => kind === "rollout.signal");
