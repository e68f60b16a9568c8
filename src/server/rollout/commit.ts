/** Writes a decision in the transaction that read its rows, with an event for each change. */
import type { Json } from "../../core/json.ts";
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type {
  DecidedEvent,
  Launch,
  NodePatch,
  RolloutDecision,
  RolloutRows,
} from "../../core/rollout/rows.ts";
import { isActive, isSettled } from "../../core/rollout/states.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents, type NewEvent } from "../events/append.ts";
import type { Authority } from "../snapshots/authority.ts";
import { launchNodes } from "./launch.ts";
import { settleNodes } from "./settle.ts";
import { notifyNodes } from "./wake.ts";

export async function commitDecision(
  tx: Transaction,
  authority: Authority,
  rows: RolloutRows,
  decision: RolloutDecision,
  now: number,
): Promise<void> {
  const { id } = rows.rollout;
  await patchNodes(tx, id, decision.nodes, now);
  const opened = await openBatch(tx, id, decision.launchBatch);
  const launches = [...decision.launches, ...opened];
  await launchNodes(tx, authority, id, launches, now);
  const settled = decision.nodes.filter((node) => isSettled(node.status));
  await settleNodes(tx, authority, id, settled, now);
  if (decision.skipPending)
    await tx`update rollout_nodes set status = 'skipped' where rollout_id = ${id} and status = 'pending'`;
  await consume(tx, rows);
  await patchRollout(tx, id, decision, now);
  await appendEvents(tx, [
    ...decision.events.map((event) => eventRow(id, event)),
    ...opened.map((launch) => launchEvent(id, launch)),
  ]);
  await notifyNodes(tx, [...launches.map((launch) => launch.nodeId), ...settled.map((node) => node.nodeId)]);
}

async function openBatch(tx: Transaction, id: RolloutId, batch: number | null): Promise<Launch[]> {
  if (batch === null) return [];
  const rows = await tx<{ node_id: NodeId }[]>`
    select node_id from rollout_nodes where rollout_id = ${id} and batch_index = ${batch} and status = 'pending'`;
  return rows.map((row) => ({ nodeId: row.node_id, direction: "forward", attempt: 1 }));
}

async function patchNodes(
  tx: Transaction,
  id: RolloutId,
  nodes: readonly NodePatch[],
  now: number,
): Promise<void> {
  if (nodes.length === 0) return;
  const rows = nodes.map((node) => ({ ...node, settled: isSettled(node.status) }));
  await tx`
    update rollout_nodes rn set status = p.status, upgrade_phase = p.phase,
      action_name = p."actionName", progress_pct = p."progressPct",
      installed_at = to_timestamp(p."installedAt" / 1000.0), error_code = p."errorCode", error_message = p."errorMessage",
      ended_at = case when p.settled then ${new Date(now)}::timestamptz else rn.ended_at end
    from jsonb_to_recordset(${tx.json(rows)}) as p("nodeId" uuid, status text, phase text, "actionName" text,
      "progressPct" int, "installedAt" double precision, "errorCode" text, "errorMessage" text, settled boolean)
    where rn.rollout_id = ${id} and rn.node_id = p."nodeId"`;
}

async function consume(tx: Transaction, rows: RolloutRows): Promise<void> {
  const signals = rows.signals.map((signal) => signal.id);
  const reports = rows.reports.map((report) => report.id);
  if (signals.length > 0) await tx`update rollout_signals set consumed_at = now() where id = any(${signals})`;
  if (reports.length > 0) await tx`update upgrade_reports set consumed_at = now() where id = any(${reports})`;
}

async function patchRollout(
  tx: Transaction,
  id: RolloutId,
  decision: RolloutDecision,
  now: number,
): Promise<void> {
  const { rollout, wakeAt } = decision;
  const at = (ms: number | null) => (ms === null ? null : new Date(ms));
  const ended = isActive(rollout.status) ? null : new Date(now);
  const started = rollout.status === "pending" ? null : new Date(now);
  await tx`
    update rollouts set status = ${rollout.status}, current_batch = ${rollout.currentBatch},
      health_until = ${at(rollout.healthUntil)}, pause_requested = ${rollout.pauseRequested},
      cancel_requested = ${rollout.cancelRequested}, acknowledged_failures = ${rollout.acknowledgedFailures},
      why = ${rollout.why === null ? null : tx.json({ ...rollout.why })}, wake_at = ${at(wakeAt)},
      started_at = coalesce(started_at, ${started}), ended_at = coalesce(ended_at, ${ended}),
      succeeded_nodes = counted.succeeded, failed_nodes = counted.failed, pending_nodes = counted.pending
    from (
      select count(*) filter (where status = 'succeeded')::int as succeeded,
             count(*) filter (where status in ('failed', 'failed_rollback'))::int as failed,
             count(*) filter (where status in ('pending', 'in_progress'))::int as pending
      from rollout_nodes where rollout_id = ${id}
    ) counted
    where id = ${id}`;
}

function eventRow(id: RolloutId, event: DecidedEvent): NewEvent {
  const { kind, ...data } = event;
  const base = { kind, rollout_id: id, data: data as unknown as Json };
  if (event.kind === "node.upgrade") return { ...base, node_id: event.nodeId };
  if (event.kind === "rollout.signal") return { ...base, actor: event.actor };
  return base;
}

const launchEvent = (id: RolloutId, launch: Launch): NewEvent => ({
  kind: "node.upgrade",
  rollout_id: id,
  node_id: launch.nodeId,
  data: {
    status: "in_progress",
    phase: "PREPARING",
    action: null,
    error: null,
    direction: launch.direction,
    attempt: launch.attempt,
  },
});
