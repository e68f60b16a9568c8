/** Reads what `decideRollout` needs, under the rollout's row lock. */
import type { ErrorCode } from "../../core/error-codes.ts";
import type { CommandId, Digest, NodeId, RolloutId } from "../../core/ids.ts";
import type { NodeState, ProgramReport, UpgradeReport } from "../../core/protocol/agent-api.ts";
import type {
  BatchNode,
  ReportRow,
  RolloutRow,
  RolloutRows,
  SignalRow,
  StatusCounts,
  Why,
} from "../../core/rollout/rows.ts";
import {
  NODE_UPGRADE_STATUSES,
  type NodeUpgradeStatus,
  type RolloutStatus,
} from "../../core/rollout/states.ts";
import type { Direction } from "../../core/upgrade/job.ts";
import type { UpgradePhase } from "../../core/upgrade/phases.ts";
import type { Transaction } from "../db/database.ts";

export interface LoadedRollout {
  readonly rows: RolloutRows;
  readonly now: number;
  readonly chain: string;
  readonly strategy: string;
  readonly startedAt: number | null;
}

const ms = (at: Date | null): number | null => (at === null ? null : at.getTime());

/** One clock for all replicas: the database's. */
export async function loadRollout(tx: Transaction, id: RolloutId): Promise<LoadedRollout | null> {
  const [row] = await tx<RolloutRecord[]>`
    select *, clock_timestamp() as db_now from rollouts where id = ${id} for update`;
  if (row === undefined) return null;
  const [batch, counts, signals, reports] = await Promise.all([
    loadBatch(tx, row),
    loadCounts(tx, id),
    loadSignals(tx, id),
    loadReports(tx, id),
  ]);
  return {
    rows: { rollout: rolloutRow(row), batch, counts, signals, reports },
    now: row.db_now.getTime(),
    chain: row.chain_profile_id,
    strategy: row.strategy,
    startedAt: ms(row.started_at),
  };
}

export interface RolloutRecord {
  readonly id: RolloutId;
  readonly chain_profile_id: string;
  readonly status: RolloutStatus;
  readonly batch_count: number;
  readonly current_batch: number;
  readonly failure_threshold: number;
  readonly health_wait_ms: number;
  readonly health_until: Date | null;
  readonly pause_requested: boolean;
  readonly cancel_requested: boolean;
  readonly acknowledged_failures: number;
  readonly intent_not_after: Date | null;
  readonly rollback_allowed: boolean;
  readonly target_binary_checksum: Digest;
  readonly why: Why | null;
  readonly strategy: string;
  readonly started_at: Date | null;
  readonly db_now: Date;
}

const rolloutRow = (row: RolloutRecord): RolloutRow => ({
  id: row.id,
  status: row.status,
  batchCount: row.batch_count,
  currentBatch: row.current_batch,
  failureThreshold: row.failure_threshold,
  healthWaitMs: row.health_wait_ms,
  healthUntil: ms(row.health_until),
  pauseRequested: row.pause_requested,
  cancelRequested: row.cancel_requested,
  acknowledgedFailures: row.acknowledged_failures,
  intentNotAfter: ms(row.intent_not_after),
  rollbackAllowed: row.rollback_allowed,
  why: row.why,
});

interface BatchRecord {
  readonly node_id: NodeId;
  readonly status: NodeUpgradeStatus;
  readonly upgrade_phase: UpgradePhase | null;
  readonly action_name: string | null;
  readonly progress_pct: number;
  readonly direction: Direction;
  readonly attempt_count: number;
  readonly command_id: CommandId | null;
  readonly launched_at: Date | null;
  readonly installed_at: Date | null;
  readonly error_code: ErrorCode | null;
  readonly error_message: string | null;
  readonly previous_checksum: Digest | null;
  readonly state: NodeState;
  readonly received_at: Date | null;
  readonly program: ProgramReport | null;
}

async function loadBatch(tx: Transaction, rollout: RolloutRecord): Promise<BatchNode[]> {
  if (rollout.current_batch < 0) return [];
  const rows = await tx<BatchRecord[]>`
    select rn.node_id, rn.status, rn.upgrade_phase, rn.action_name, rn.progress_pct, rn.direction, rn.attempt_count, rn.command_id, rn.launched_at,
           rn.installed_at, rn.error_code, rn.error_message, rn.previous_checksum, n.state, hb.received_at, program.report as program
    from rollout_nodes rn
    join nodes n on n.id = rn.node_id
    left join node_heartbeats hb on hb.node_id = rn.node_id
    left join lateral (
      select report from jsonb_array_elements(hb.programs) as report
      where report->>'chain_profile_id' = ${rollout.chain_profile_id} limit 1
    ) program on true
    where rn.rollout_id = ${rollout.id} and rn.batch_index = ${rollout.current_batch}`;
  return rows.map((row) => ({
    nodeId: row.node_id,
    status: row.status,
    phase: row.upgrade_phase,
    actionName: row.action_name,
    progressPct: row.progress_pct,
    direction: row.direction,
    attempt: row.attempt_count,
    commandId: row.command_id,
    launchedAt: ms(row.launched_at),
    installedAt: ms(row.installed_at),
    errorCode: row.error_code,
    errorMessage: row.error_message,
    target: rollout.target_binary_checksum,
    previous: row.previous_checksum,
    facts: {
      heartbeatAt: ms(row.received_at),
      applicationHealth: row.program?.application_health ?? null,
      syncStatus: row.program?.sync_status ?? null,
      nodeState: row.state,
      restarts: row.program?.restarts ?? 0,
      runningFingerprint: row.program?.running_fingerprint ?? null,
    },
  }));
}

async function loadCounts(tx: Transaction, id: RolloutId): Promise<StatusCounts> {
  const rows = await tx<{ status: NodeUpgradeStatus; count: number }[]>`
    select status, count(*)::int as count from rollout_nodes where rollout_id = ${id} group by status`;
  const counts = Object.fromEntries(NODE_UPGRADE_STATUSES.map((status) => [status, 0]));
  for (const row of rows) counts[row.status] = row.count;
  return counts as StatusCounts;
}

const loadSignals = (tx: Transaction, id: RolloutId): Promise<SignalRow[]> =>
  tx<SignalRow[]>`
    select id, kind, actor, reason from rollout_signals where rollout_id = ${id} and consumed_at is null order by id`;

async function loadReports(tx: Transaction, id: RolloutId): Promise<ReportRow[]> {
  const rows = await tx<
    { id: number; node_id: NodeId; command_id: CommandId; created_at: Date; body: UpgradeReport["body"] }[]
  >`
    select id, node_id, command_id, created_at, body from upgrade_reports
    where rollout_id = ${id} and consumed_at is null order by id`;
  return rows.map((row) => ({
    id: row.id,
    nodeId: row.node_id,
    commandId: row.command_id,
    at: row.created_at.getTime(),
    body: row.body,
  }));
}
