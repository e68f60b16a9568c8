/** Reads what `decideGroup` needs, under the group's row lock. */
import type { FailurePolicy, GroupStatus } from "../../core/group/states.ts";
import type { ComponentRow, GateNode, GroupRow, GroupRows, GroupSignalRow } from "../../core/group/rows.ts";
import { availableSince } from "../../core/health/watch.ts";
import type { Digest, NodeId, RolloutId } from "../../core/ids.ts";
import type { GroupId } from "../../core/protocol/group-api.ts";
import type { Why } from "../../core/rollout/rows.ts";
import type { RolloutStatus } from "../../core/rollout/states.ts";
import type { Transaction } from "../db/database.ts";
import { readWatch } from "../health/watch.ts";
import { isKnown, isOnTarget } from "../rollout/load-next.ts";
import { factsOf, stateOf, type HealthRecord } from "../rollout/load-nodes.ts";
import { countsOf } from "../rollout/load.ts";
import { ms } from "../rollout/rollout-record.ts";

export interface LoadedGroup {
  readonly rows: GroupRows;
  /** The components as they were read: what comes later is news. */
  readonly revision: number;
  readonly now: number;
}

export async function loadGroup(tx: Transaction, id: GroupId): Promise<LoadedGroup | null> {
  const [row] = await tx<GroupRecord[]>`
    select *, clock_timestamp() as db_now from rollout_groups where id = ${id} for update`;
  if (row === undefined) return null;
  const records = await loadComponents(tx, id);
  const watch = await readWatch(tx);
  const now = row.db_now.getTime();
  return {
    rows: {
      group: groupRow(row),
      components: records.map(componentRow),
      gate: await loadGate(tx, row, records, now),
      signals: await loadSignals(tx, id),
      availableSince: availableSince(watch, now),
    },
    revision: records.reduce((sum, { revision }) => sum + revision, 0),
    now,
  };
}

interface GroupRecord {
  readonly id: GroupId;
  readonly status: GroupStatus;
  readonly failure_policy: FailurePolicy;
  readonly current_component: number;
  readonly failed_component: number | null;
  readonly health_wait_ms: number;
  readonly gate_until: Date | null;
  readonly pause_requested: boolean;
  readonly cancel_requested: boolean;
  readonly why: Why | null;
  readonly db_now: Date;
}

const groupRow = (row: GroupRecord): GroupRow => ({
  id: row.id,
  status: row.status,
  failurePolicy: row.failure_policy,
  currentComponent: row.current_component,
  failedComponent: row.failed_component,
  healthWaitMs: row.health_wait_ms,
  gateUntil: ms(row.gate_until),
  pauseRequested: row.pause_requested,
  cancelRequested: row.cancel_requested,
  why: row.why,
});

interface ComponentRecord {
  readonly id: RolloutId;
  readonly component_index: number;
  readonly binary_name: string;
  readonly chain_profile_id: string;
  readonly target_binary_checksum: Digest;
  readonly status: RolloutStatus;
  readonly why: Why | null;
  readonly counts: Record<string, number> | null;
  readonly on_target: number;
  readonly on_new: number;
  readonly unknown: number;
  readonly pause_requested: boolean;
  readonly cancel_requested: boolean;
  readonly rollback_requested: boolean;
  readonly rollback_allowed: boolean;
  readonly has_unread: boolean;
  readonly revision: number;
}

/** Not locked: a component that moves meanwhile raises its revision, and the group is told again. */
export const loadComponents = (tx: Transaction, id: GroupId): Promise<ComponentRecord[]> => tx<
  ComponentRecord[]
>`
  select r.id, r.component_index, r.binary_name, r.chain_profile_id, r.target_binary_checksum, r.status, r.why,
    r.pause_requested, r.cancel_requested, r.rollback_requested, r.rollback_allowed, r.revision,
    exists (select 1 from rollout_signals s where s.rollout_id = r.id and s.consumed_at is null) as has_unread,
    (select jsonb_object_agg(status, count) from (
      select status, count(*)::int as count from rollout_nodes where rollout_id = r.id group by status) c) as counts,
    (select count(*)::int from rollout_nodes rn
      where rn.rollout_id = r.id and ${isOnTarget(tx, tx`rn`)} and ${isKnown(tx)}) as on_target,
    (select count(*)::int from rollout_nodes rn
      where rn.rollout_id = r.id and ((rn.status = 'succeeded' and coalesce(rn.stands, 'target') = 'target')
        or (rn.status = 'failed' and rn.stands = 'target'))) as on_new,
    (select count(*)::int from rollout_nodes rn
      where rn.rollout_id = r.id and rn.status = 'failed' and rn.stands = 'unknown') as unknown
  from rollouts r where r.group_id = ${id} order by r.component_index`;

export const componentRow = (row: ComponentRecord): ComponentRow => ({
  id: row.id,
  index: row.component_index,
  name: row.binary_name,
  status: row.status,
  why: row.why,
  counts: countsOf(row.counts ?? {}),
  onTarget: row.on_target,
  onNew: row.on_new,
  unknown: row.unknown,
  pauseRequested: row.pause_requested,
  cancelRequested: row.cancel_requested,
  rollbackRequested: row.rollback_requested,
  rollbackAllowed: row.rollback_allowed,
  hasUnread: row.has_unread,
});

/** Every node of the component under watch, read only when the watch is over. */
async function loadGate(
  tx: Transaction,
  group: GroupRecord,
  components: readonly ComponentRecord[],
  now: number,
): Promise<GateNode[]> {
  const component = components[group.current_component];
  if (component?.status !== "completed" || group.gate_until === null || group.gate_until.getTime() > now)
    return [];
  const rows = await tx<(HealthRecord & { node_id: NodeId })[]>`
    select rn.node_id, rn.restarts_before, ${stateOf(tx)} as state, hb.received_at, program.report as program
    from rollout_nodes rn
    join nodes n on n.id = rn.node_id
    left join node_profiles np on np.node_id = rn.node_id and np.chain_profile_id = ${component.chain_profile_id}
    left join node_heartbeats hb on hb.node_id = rn.node_id
    left join lateral (
      select report from jsonb_array_elements(hb.programs) as report
      where report->>'chain_profile_id' = ${component.chain_profile_id} limit 1
    ) program on true
    where rn.rollout_id = ${component.id} and rn.status = 'succeeded'`;
  return rows.map((row) => ({
    nodeId: row.node_id,
    target: component.target_binary_checksum,
    facts: factsOf(row),
  }));
}

const loadSignals = (tx: Transaction, id: GroupId): Promise<GroupSignalRow[]> =>
  tx<GroupSignalRow[]>`
    select id, kind, actor, reason from group_signals where group_id = ${id} and consumed_at is null order by id`;
