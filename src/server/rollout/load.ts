/** Reads what `decideRollout` needs, under the rollout's row lock. */
import type { CommandId, NodeId, RolloutId } from "../../core/ids.ts";
import { availableSince } from "../../core/health/watch.ts";
import { LIMITS } from "../../core/limits.ts";
import type { UpgradeReport } from "../../core/protocol/agent-api.ts";
import type { GroupId } from "../../core/protocol/group-api.ts";
import { lookAt } from "../../core/rollout/quiet.ts";
import type { ReportRow, RolloutRows, SignalRow, StatusCounts } from "../../core/rollout/rows.ts";
import { NODE_UPGRADE_STATUSES, type NodeUpgradeStatus, type Strategy } from "../../core/rollout/states.ts";
import type { Transaction } from "../db/database.ts";
import { pipelined } from "../db/pipelined.ts";
import { readWatch } from "../health/watch.ts";
import { newestBundleContent, whyUntrusted } from "./intent-trust.ts";
import { loadIsBeyondCanary, loadNext, loadOnTarget, loadRetries } from "./load-next.ts";
import { loadBatch, loadNamed } from "./load-nodes.ts";
import { ms, rolloutRow, type RolloutRecord } from "./rollout-record.ts";

export interface LoadedRollout {
  readonly rows: RolloutRows;
  readonly now: number;
  readonly chain: string;
  readonly strategy: Strategy;
  readonly groupId: GroupId | null;
  readonly startedAt: number | null;
}

/** One clock for all replicas: the database's. */
export async function loadRollout(tx: Transaction, id: RolloutId): Promise<LoadedRollout | null> {
  const [[row], signals, reports, watch, bundle] = await pipelined(
    () =>
      tx<RolloutRecord[]>`select *, clock_timestamp() as db_now from rollouts where id = ${id} for update`,
    () => loadSignals(tx, id),
    () => loadReports(tx, id),
    () => readWatch(tx),
    () => newestBundleContent(tx),
  );
  if (row === undefined) return null;
  const now = row.db_now.getTime();
  const rollout = rolloutRow(row, whyUntrusted(row, bundle, now));
  const available = availableSince(watch, now);
  const { launchesPerStep, settlesPerStep } = LIMITS;
  const [{ batch, quiet }, named, counts, next, retries, isBeyondCanary, onTarget] = await Promise.all([
    loadBatch(tx, row, reports, lookAt(rollout, signals, { now, availableSince: available, settlesPerStep })),
    loadNamed(tx, row, signals, reports),
    loadCounts(tx, id),
    loadNext(tx, row, signals),
    loadRetries(tx, row),
    loadIsBeyondCanary(tx, row),
    loadOnTarget(tx, row, signals),
  ]);
  return {
    rows: {
      rollout,
      batch,
      quiet,
      named,
      counts,
      next,
      retries,
      isBeyondCanary,
      ...onTarget,
      signals,
      reports,
      availableSince: available,
      launchesPerStep,
      settlesPerStep,
    },
    now,
    chain: row.chain_profile_id,
    strategy: row.strategy,
    groupId: row.group_id,
    startedAt: ms(row.started_at),
  };
}

async function loadCounts(tx: Transaction, id: RolloutId): Promise<StatusCounts> {
  const rows = await tx<{ status: NodeUpgradeStatus; count: number }[]>`
    select status, count(*)::int as count from rollout_nodes where rollout_id = ${id} group by status`;
  return countsOf(Object.fromEntries(rows.map(({ status, count }) => [status, count])));
}

export const countsOf = (counted: Readonly<Record<string, number>>): StatusCounts =>
  Object.fromEntries(
    NODE_UPGRADE_STATUSES.map((status) => [status, counted[status] ?? 0]),
  ) as unknown as StatusCounts;

const loadSignals = (tx: Transaction, id: RolloutId): Promise<SignalRow[]> =>
  tx<SignalRow[]>`
    select id, kind, node_id as "nodeId", actor, reason from rollout_signals
    where rollout_id = ${id} and consumed_at is null order by id`;

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
