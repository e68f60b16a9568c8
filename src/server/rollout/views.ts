/** Rollouts as the API shows them. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Uuid, type RolloutId } from "../../core/ids.ts";
import { NodeUpgradeView, RolloutView } from "../../core/protocol/operator-api.ts";
import { ROLLBACK_TIER, type MigrationType } from "../../core/manifest/schema.ts";
import { explainRollout, type Waiting } from "../../core/rollout/explain.ts";
import type { Why } from "../../core/rollout/rows.ts";
import { NODE_UPGRADE_STATUSES, type RolloutStatus } from "../../core/rollout/states.ts";
import { actionIndexOf } from "../../core/upgrade/phases.ts";
import type { Database } from "../db/database.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import { isCalledOff, serialOf } from "./called-off.ts";

export interface RolloutFilter {
  readonly status?: RolloutStatus | undefined;
  readonly chain_profile_id?: string | undefined;
  readonly group_id?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Age as the database prints it: a Date would round it to milliseconds and skip rows. */
const RolloutCursor = z.tuple([z.string().regex(/^[0-9 :.+-]{10,40}$/), Uuid]);
const NodeCursor = z.tuple([z.int().min(0), z.string().max(300)]);

const iso = (at: Date | null): string | null => (at === null ? null : at.toISOString());

export async function readRollout(db: Database, id: RolloutId): Promise<RolloutView> {
  const [row] = await db<RolloutRecord[]>`${columns(db)} where r.id = ${id}`;
  if (row === undefined) throw new FairleadError("NOT_FOUND", `no rollout ${id}`);
  return viewOf(row);
}

/** The components of groups, in their order. */
export async function readComponents(
  db: Database,
  groupIds: readonly string[],
): Promise<Map<string, RolloutView[]>> {
  const rows = await db<RolloutRecord[]>`
    ${columns(db)} where r.group_id = any(${[...groupIds]}) order by r.group_id, r.component_index`;
  return Map.groupBy(rows.map(viewOf), (rollout) => rollout.group_id!);
}

/** Newest first; the cursor is the last one's age and id. */
export async function readRollouts(db: Database, filter: RolloutFilter) {
  const after = filter.cursor === undefined ? null : decodeCursor(filter.cursor, RolloutCursor);
  const rows = await db<RolloutRecord[]>`
    ${columns(db)} where true
      ${filter.status === undefined ? db`` : db`and r.status = ${filter.status}`}
      ${filter.chain_profile_id === undefined ? db`` : db`and r.chain_profile_id = ${filter.chain_profile_id}`}
      ${filter.group_id === undefined ? db`` : db`and r.group_id = ${filter.group_id}`}
      ${after === null ? db`` : db`and (r.created_at, r.id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
    order by r.created_at desc, r.id desc limit ${filter.limit + 1}`;
  const page = rows.slice(0, filter.limit);
  const last = page.at(-1);
  const more = rows.length > filter.limit && last !== undefined;
  return {
    rollouts: page.map(viewOf),
    next_cursor: more ? encodeCursor([last.created_at_exact, last.id]) : null,
  };
}

export async function readRolloutNodes(
  db: Database,
  id: RolloutId,
  page: { limit: number; cursor?: string },
) {
  await readRollout(db, id);
  const after = page.cursor === undefined ? null : decodeCursor(page.cursor, NodeCursor);
  const rows = await db<
    (NodeUpgradeView & { launched_at: Date | null; ended: Date | null; silent: Date | null })[]
  >`
    select rn.node_id, n.name as node_name, rn.batch_index, rn.status, rn.upgrade_phase, rn.action_name, rn.progress_pct,
      rn.waiting_for, rn.direction, rn.attempt_count, rn.previous_version, rn.previous_checksum, rn.error_code,
      rn.error_message, rn.retry_requested, rn.silent_since as silent,
      rn.launched_at, rn.ended_at as ended
    from rollout_nodes rn join nodes n on n.id = rn.node_id
    where rn.rollout_id = ${id}
      ${after === null ? db`` : db`and (rn.batch_index, n.name) > (${after[0]}, ${after[1]})`}
    order by rn.batch_index, n.name limit ${page.limit + 1}`;
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const more = rows.length > page.limit && last !== undefined;
  return {
    nodes: shown.map(({ launched_at, ended, silent, ...node }) =>
      NodeUpgradeView.parse({
        ...node,
        action_index: actionIndexOf(node.action_name),
        silent_since: iso(silent),
        started_at: iso(launched_at),
        ended_at: iso(ended),
      }),
    ),
    next_cursor: more ? encodeCursor([last.batch_index, last.node_name]) : null,
  };
}

interface RolloutRecord {
  readonly id: string;
  readonly status: RolloutStatus;
  readonly migration_type: MigrationType;
  readonly current_batch: number;
  readonly batch_count: number;
  readonly health_wait_ms: number;
  readonly health_until: Date | null;
  readonly why: Why | null;
  readonly total_nodes: number;
  readonly counts: Record<string, number> | null;
  readonly waiting: Waiting | null;
  readonly silent_nodes: number;
  readonly intent_digest: string | null;
  readonly intent_frame: Buffer | null;
  readonly intent_not_after: Date | null;
  readonly void_intent_serial: number | null;
  readonly db_now: Date;
  readonly canary_approved_at: Date | null;
  readonly created_at: Date;
  readonly created_at_exact: string;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

const columns = (db: Database) => db`
  select r.id, r.group_id, r.component_index, r.chain_profile_id, r.node_type, r.node_labels, r.upgrade_id, r.runtime, r.binary_name, r.source_version, r.target_version,
    r.target_binary_url, r.target_binary_checksum, r.manifest_content_hash, r.migration_type, r.strategy, r.batch_size,
    r.canary_size, r.force_continue, r.skip_validation, r.max_unavailable, r.rollback_requested, r.rollback_allowed,
    r.canary_approved_by, r.canary_approved_at, r.batch_count, r.current_batch, r.failure_threshold, r.health_wait_ms, r.health_until, r.status, r.pause_requested,
    r.cancel_requested, r.why, r.total_nodes, r.intent_digest, r.intent_frame, r.intent_not_after,
    r.void_intent_serial, now() as db_now, r.created_by, r.created_at,
    r.created_at::text as created_at_exact, r.started_at, r.ended_at, counted.counts, waiting.waiting,
    (select count(*)::int from rollout_nodes rn
      where rn.rollout_id = r.id and rn.status = 'in_progress' and rn.silent_since is not null) as silent_nodes
  from rollouts r
  left join lateral (
    select jsonb_build_object('node', n.name, 'profile', rn.waiting_for, 'nodes', count(*) over ()) as waiting
    from rollout_nodes rn join nodes n on n.id = rn.node_id
    where rn.rollout_id = r.id and rn.waiting_for is not null order by n.name limit 1
  ) waiting on true
  left join lateral (
    select jsonb_object_agg(status, count) as counts from (
      select status, count(*)::int as count from rollout_nodes where rollout_id = r.id group by status
    ) by_status
  ) counted on true`;

function viewOf(row: RolloutRecord): RolloutView {
  const {
    counts,
    waiting,
    total_nodes,
    health_wait_ms,
    created_at_exact: _exact,
    intent_digest: _digest,
    intent_frame: _frame,
    intent_not_after: _until,
    void_intent_serial: _serial,
    db_now,
    ...rest
  } = row;
  const intent = intentOf(row);
  const isOpen = intent !== null && !intent.voided && Date.parse(intent.not_after) > db_now.getTime();
  const counters = Object.fromEntries(NODE_UPGRADE_STATUSES.map((status) => [status, counts?.[status] ?? 0]));
  const healthUntil = iso(row.health_until);
  const why = explainRollout({
    id: row.id,
    intentValidUntil: isOpen ? intent.not_after : null,
    status: row.status,
    why: row.why,
    currentBatch: row.current_batch,
    batchCount: row.batch_count,
    inProgress: counters["in_progress"]!,
    waiting,
    silent: row.silent_nodes,
    healthUntil,
  });
  return RolloutView.parse({
    ...rest,
    rollback_tier: ROLLBACK_TIER[row.migration_type],
    health_wait_seconds: health_wait_ms / 1000,
    health_until: healthUntil,
    why,
    counters: { total: total_nodes, ...counters },
    intent,
    canary_approved_at: iso(row.canary_approved_at),
    created_at: iso(row.created_at),
    started_at: iso(row.started_at),
    ended_at: iso(row.ended_at),
  });
}

function intentOf(row: RolloutRecord) {
  const { intent_digest: digest, intent_frame: frame, intent_not_after: until } = row;
  if (digest === null || frame === null || until === null) return null;
  return { digest, not_after: until.toISOString(), serial: serialOf(frame), voided: isCalledOff(row) };
}
