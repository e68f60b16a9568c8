/** What comes after the current batch, on the way forward and on the way back. */
import type { NextBatch, RolloutRows, SignalRow } from "../../core/rollout/rows.ts";
import type { Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import type { RolloutRecord } from "./rollout-record.ts";

/** A revoked node gets no command, in neither direction. */
export const isKnown = (tx: Transaction) =>
  tx`not exists (select 1 from nodes known where known.id = rn.node_id and known.revoked_at is not null)`;

/** Nodes that an unread `skip` names are left out: a batch of nothing but those is none. */
export async function loadNext(
  tx: Transaction,
  rollout: RolloutRecord,
  signals: readonly SignalRow[],
): Promise<NextBatch | null> {
  const skipped = signals.flatMap(({ kind, nodeId }) => (kind === "skip" && nodeId !== null ? [nodeId] : []));
  const [row] = await tx<{ index: number; nodes: number }[]>`
    select rn.batch_index as index, count(*)::int as nodes from rollout_nodes rn
    where rn.rollout_id = ${rollout.id} and rn.status = 'pending' and rn.batch_index >= ${rollout.current_batch}
      and not rn.node_id = any(${skipped}) and ${isKnown(tx)}
    group by rn.batch_index order by rn.batch_index limit 1`;
  return row === undefined ? null : { ...row, byValue: await countByValue(tx, rollout, row.index, skipped) };
}

/**
 * A node is away whichever of its programs is, and busy while another profile's upgrade has it (ADR 24): either way one
 * machine less. Maintenance for this profile is counted by the decision, which knows its batch.
 */
const isAway = (tx: Transaction) => tx`
  (n.state <> 'active' or exists (
    select 1 from node_profiles np where np.node_id = n.id and np.state in ('failed', 'degraded')))`;

const isBusy = (tx: Transaction, profile: string) => tx`
  exists (select 1 from node_profiles np
    where np.node_id = n.id and np.state = 'maintenance' and np.chain_profile_id <> ${profile})`;

/**
 * Rollouts of different profiles may share nodes. The ones with a limit count and open one after the other, or two would
 * take the last place at once. The lock is held until the step commits.
 */
const lockLimits = async (tx: Transaction) => tx`select pg_advisory_xact_lock(${LOCKS.unavailable})`;

/** Of the whole profile; the current batch is counted by the decision itself, which may be changing it. */
async function countByValue(
  tx: Transaction,
  rollout: RolloutRecord,
  index: number,
  skipped: readonly string[],
): Promise<NextBatch["byValue"]> {
  const { id, max_unavailable: limit, chain_profile_id, current_batch } = rollout;
  if (limit === null) return [];
  await lockLimits(tx);
  return tx<NextBatch["byValue"][number][]>`
    with opening as (
      select rn.node_id, n.labels->>${limit.label} as value
      from rollout_nodes rn join nodes n on n.id = rn.node_id
      where rn.rollout_id = ${id} and rn.batch_index = ${index} and rn.status = 'pending'
        and not rn.node_id = any(${skipped})
    ), away as (
      select n.labels->>${limit.label} as value,
        (${isAway(tx)} or coalesce(rn.status in ('failed', 'failed_rollback'), false)) as lost
      from node_profiles mine
      join nodes n on n.id = mine.node_id
      left join rollout_nodes rn on rn.node_id = n.id and rn.rollout_id = ${id}
      where mine.chain_profile_id = ${chain_profile_id} and n.revoked_at is null
        and (${isAway(tx)} or ${isBusy(tx, chain_profile_id)} or rn.status in ('failed', 'failed_rollback'))
        and rn.batch_index is distinct from ${current_batch}
        and not exists (select 1 from opening where opening.node_id = n.id)
    )
    select value, count(*)::int as nodes,
      (select count(*)::int from away where away.value = opening.value and lost) as away,
      (select count(*)::int from away where away.value = opening.value and not lost) as busy
    from opening where value is not null group by value order by value`;
}

/** Failed nodes whose retry was asked for: of the current batch, else of the lowest one. */
export async function loadRetries(tx: Transaction, rollout: RolloutRecord): Promise<RolloutRows["retries"]> {
  const rows = await tx<{ index: number; nodes: number; failed: number }[]>`
    select rn.batch_index as index, count(*) filter (where rn.retry_requested)::int as nodes, count(*)::int as failed
    from rollout_nodes rn where rn.rollout_id = ${rollout.id} and rn.status = 'failed' and ${isKnown(tx)}
    group by rn.batch_index order by rn.batch_index = ${rollout.current_batch} desc, rn.batch_index`;
  const nodes = rows.reduce((sum, row) => sum + row.nodes, 0);
  const possible = rows.reduce((sum, row) => sum + row.failed, 0);
  const next = rows.find((row) => row.nodes > 0);
  if (next === undefined) return { nodes, possible, next: null };
  const byValue = await countRetriesByValue(tx, rollout, next.index);
  return { nodes, possible, next: { index: next.index, nodes: next.nodes, byValue } };
}

/** Nodes that are away already join nobody: they are counted, and the others of the batch. */
async function countRetriesByValue(
  tx: Transaction,
  { id, max_unavailable: limit, chain_profile_id }: RolloutRecord,
  index: number,
): Promise<NextBatch["byValue"]> {
  if (limit === null) return [];
  await lockLimits(tx);
  return tx<NextBatch["byValue"][number][]>`
    with away as (
      select n.id, n.labels->>${limit.label} as value, ${isAway(tx)} as lost from node_profiles mine
      join nodes n on n.id = mine.node_id
      where mine.chain_profile_id = ${chain_profile_id} and n.revoked_at is null
        and (${isAway(tx)} or ${isBusy(tx, chain_profile_id)})
    ), joining as (
      select n.id, n.labels->>${limit.label} as value from rollout_nodes rn join nodes n on n.id = rn.node_id
      where rn.rollout_id = ${id} and rn.batch_index = ${index} and rn.retry_requested
        and n.revoked_at is null and not exists (select 1 from away where away.id = n.id and lost)
    )
    select value, count(*)::int as nodes,
      (select count(*)::int from away where away.value = joining.value and lost) as away,
      (select count(*)::int from away where away.value = joining.value and not lost
        and away.id not in (select id from joining) and not exists (
          select 1 from rollout_nodes rn
          where rn.rollout_id = ${id} and rn.node_id = away.id and rn.status = 'in_progress')) as busy
    from joining where value is not null group by value order by value`;
}

/** Only a canary that is current again is asked for it. */
export async function loadIsBeyondCanary(tx: Transaction, rollout: RolloutRecord): Promise<boolean> {
  if (rollout.strategy !== "canary" || rollout.current_batch !== 0) return false;
  const [row] = await tx`
    select 1 from rollout_nodes where rollout_id = ${rollout.id} and batch_index > 0 and attempt_count > 0 limit 1`;
  return row !== undefined;
}

/** Looked for only where a way back may begin or go on. */
export async function loadOnTarget(
  tx: Transaction,
  rollout: RolloutRecord,
  signals: readonly SignalRow[],
): Promise<Pick<RolloutRows, "lastOnTarget" | "unsettled">> {
  const goesBack =
    rollout.status === "rolling_back" ||
    rollout.rollback_requested ||
    signals.some(({ kind }) => kind === "rollback");
  if (!goesBack) return { lastOnTarget: null, unsettled: 0 };
  const [row] = await tx<{ index: number; nodes: number }[]>`
    select rn.batch_index as index, count(*)::int as nodes from rollout_nodes rn
    where rn.rollout_id = ${rollout.id} and ${isOnTarget(tx, tx`rn`)} and ${isKnown(tx)}
    group by rn.batch_index order by rn.batch_index desc limit 1`;
  const [unknown] = await tx<{ count: number }[]>`
    select count(*)::int as count from unsettled_nodes u
    join rollout_nodes rn on rn.rollout_id = u.rollout_id and rn.node_id = u.node_id and rn.status = 'failed'
      and rn.stands = 'unknown'
    where u.rollout_id = ${rollout.id}`;
  return { lastOnTarget: row ?? null, unsettled: unknown!.count };
}

/** As `isOnTarget` of core says it, of rows of `rollout_nodes` under that name; and the node still has the profile. */
export const isOnTarget = (tx: Transaction, of?: ReturnType<Transaction>) => {
  const rn = of ?? tx`rollout_nodes`;
  return tx`
    ${rn}.previous_checksum is not null
      and ((${rn}.status = 'succeeded' and coalesce(${rn}.stands, 'target') = 'target')
        or (${rn}.status = 'failed' and ${rn}.stands = 'target'))
      and exists (
        select 1 from node_profiles np join rollouts own on own.chain_profile_id = np.chain_profile_id
        where own.id = ${rn}.rollout_id and np.node_id = ${rn}.node_id)`;
};
