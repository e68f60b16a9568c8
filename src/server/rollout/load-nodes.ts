/** The nodes that a step looks at one by one: of the current batch, and what unread signals name outside it. */
import type { ErrorCode } from "../../core/error-codes.ts";
import type { CommandId, Digest, NodeId, ProfileId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { NodeState, ProgramReport } from "../../core/protocol/agent-api.ts";
import { silenceEndsAt, type HealthFacts } from "../../core/rollout/health.ts";
import type { Look } from "../../core/rollout/quiet.ts";
import type { BatchNode, QuietNodes, ReportRow, SignalRow } from "../../core/rollout/rows.ts";
import type { NodeUpgradeStatus } from "../../core/rollout/states.ts";
import type { Direction } from "../../core/upgrade/job.ts";
import type { UpgradePhase } from "../../core/upgrade/phases.ts";
import type { Transaction } from "../db/database.ts";
import { restartsSince } from "./restarts.ts";
import { ms, type RolloutRecord } from "./rollout-record.ts";
import { findMeasured } from "./unsettled.ts";

export interface HealthRecord {
  readonly restarts_before: number;
  readonly state: NodeState;
  readonly received_at: Date | null;
  readonly program: ProgramReport | null;
}

export const factsOf = ({ state, received_at, program, restarts_before }: HealthRecord): HealthFacts => ({
  heartbeatAt: ms(received_at),
  applicationHealth: program?.application_health ?? null,
  syncStatus: program?.sync_status ?? null,
  nodeState: state,
  restarts: restartsSince(program?.restarts ?? 0, restarts_before),
  runningFingerprint: program?.running_fingerprint ?? null,
});

/**
 * Of rows `n` and `hb`. The stored `down` is stale once a heartbeat arrives: the health look that corrects it runs later,
 * and leaves out nodes in maintenance.
 */
const isDown = (tx: Transaction) => tx`
  (n.state = 'down' and (hb.received_at is null
    or hb.received_at <= clock_timestamp() - make_interval(secs => ${LIMITS.heartbeatLateMs / 1000})))`;

/** Of a profile on its node, from rows `n`, `np` and `hb`: down with its node. A removed profile has no state of its own. */
export const stateOf = (tx: Transaction) => tx`
  case when n.state = 'active' then coalesce(np.state, 'active') when ${isDown(tx)} then 'down'
    when coalesce(np.state, 'active') = 'active' then 'degraded' else np.state end`;

interface NodeRecord extends HealthRecord {
  readonly node_id: NodeId;
  readonly batch_index: number;
  readonly status: NodeUpgradeStatus;
  readonly upgrade_phase: UpgradePhase | null;
  readonly action_name: string | null;
  readonly progress_pct: number;
  readonly waiting_for: ProfileId | null;
  readonly direction: Direction;
  readonly attempt_count: number;
  readonly command_id: CommandId | null;
  readonly launched_at: Date | null;
  readonly installed_at: Date | null;
  readonly ended_at: Date | null;
  readonly error_code: ErrorCode | null;
  readonly error_message: string | null;
  readonly retry_requested: boolean;
  readonly silent_since: Date | null;
  readonly is_revoked: boolean;
  readonly previous_checksum: Digest | null;
  readonly recorded: Digest | null;
  readonly stands: BatchNode["stands"];
  readonly assigned: boolean;
  readonly label_value: string | null;
  readonly elsewhere: BatchNode["elsewhere"];
}

/** A program that is stopped, or not yet started anew, says nothing: its upgrade may be half done. */
function measuredBy({ program, received_at, ended_at }: NodeRecord): Digest | null {
  if (program === null || received_at === null || ended_at === null || received_at <= ended_at) return null;
  const { running_fingerprint: running, installed_fingerprint: installed } = program;
  return running === installed ? installed : null;
}

const NOBODY: QuietNodes = { installing: 0, launchedAt: null, verifying: 0 };

/** As `lookedAt` and `countQuiet` say it of rows in memory. */
export async function loadBatch(
  tx: Transaction,
  rollout: RolloutRecord,
  reports: readonly ReportRow[],
  look: Look,
): Promise<{ readonly batch: BatchNode[]; readonly quiet: QuietNodes }> {
  if (rollout.current_batch < 0) return { batch: [], quiet: NOBODY };
  const reported = [...new Set(reports.map(({ nodeId }) => nodeId))];
  const ofBatch = tx`and rn.batch_index = ${rollout.current_batch}`;
  if (look.whole)
    return {
      batch: await read(tx, rollout, tx`${ofBatch} and rn.status <> 'pending'`, reported),
      quiet: NOBODY,
    };
  const atWork = tx`${ofBatch} and rn.status = 'in_progress'`;
  const isNamed = tx`(rn.direction = 'reverse' or rn.node_id in ${each(tx, reported)})`;
  const isSilent = tx`(rn.upgrade_phase is distinct from 'VERIFYING' and coalesce(rn.launched_at, '-infinity') <= ${new Date(look.launchedUntil)})`;
  const [named, judged, [quiet]] = await Promise.all([
    read(tx, rollout, tx`${atWork} and (${isNamed} or ${isSilent})`, reported),
    look.judged === null
      ? []
      : read(
          tx,
          rollout,
          tx`${atWork} and not ${isNamed} and ${isDue(tx, look.judged)} limit ${look.judged.most}`,
          reported,
        ),
    tx<{ installing: number; launched_at: Date | null; verifying: number }[]>`
      select count(*) filter (where rn.upgrade_phase is distinct from 'VERIFYING')::int as installing,
        min(rn.launched_at) filter (where rn.upgrade_phase is distinct from 'VERIFYING') as launched_at,
        count(*) filter (where rn.upgrade_phase = 'VERIFYING')::int as verifying
      from rollout_nodes rn
      where rn.rollout_id = ${rollout.id} ${atWork} and not (${isNamed} or ${isSilent})`,
  ]);
  const { installing, launched_at, verifying } = quiet!;
  return {
    batch: [...named, ...judged],
    quiet: { installing, launchedAt: ms(launched_at), verifying: verifying - judged.length },
  };
}

/** As `canBeJudged` says it. */
const isDue = (tx: Transaction, { due, availableSince, now }: NonNullable<Look["judged"]>) => tx`
  rn.upgrade_phase = 'VERIFYING' and (${isDown(tx)} or np.state = 'failed'
    or hb.received_at >= greatest(coalesce(rn.installed_at, ${new Date(now)}), ${new Date(due - LIMITS.healthHeartbeatGraceMs)})
    or ${now >= silenceEndsAt({ due, availableSince })})`;

/** A list of rows is looked up by hash. With an array, each row of the batch would be compared with each that reported. */
const each = (tx: Transaction, ids: readonly NodeId[]) => tx`(select unnest(${ids}::uuid[]))`;

/** Nodes at work are the batch's. */
export async function loadNamed(
  tx: Transaction,
  rollout: RolloutRecord,
  signals: readonly SignalRow[],
  reports: readonly ReportRow[],
): Promise<BatchNode[]> {
  const named = signals.flatMap(({ nodeId }) => (nodeId === null ? [] : [nodeId]));
  const measured = await findMeasured(tx, rollout);
  const wanted = [...new Set([...named, ...measured, ...reports.map(({ nodeId }) => nodeId)])];
  if (wanted.length === 0) return [];
  return read(tx, rollout, tx`and rn.status <> 'in_progress' and rn.node_id in ${each(tx, wanted)}`, []);
}

const elsewhere = (tx: Transaction, { max_unavailable, chain_profile_id }: RolloutRecord) =>
  max_unavailable === null
    ? tx`null::text`
    : tx`(
        select case when bool_or(other.state in ('failed', 'degraded')) then 'away'
          when bool_or(other.state = 'maintenance') then 'busy' end
        from node_profiles other
        where other.node_id = rn.node_id and other.chain_profile_id <> ${chain_profile_id})`;

/** What a node says of itself is read where it is judged by it: when it is installed, or has just said so. */
async function read(
  tx: Transaction,
  rollout: RolloutRecord,
  which: ReturnType<Transaction>,
  reported: readonly NodeId[],
): Promise<BatchNode[]> {
  const rows = await tx<NodeRecord[]>`
    select rn.node_id, rn.batch_index, rn.status, rn.upgrade_phase, rn.action_name, rn.progress_pct, rn.waiting_for,
      rn.direction, rn.attempt_count, rn.command_id, rn.launched_at, rn.installed_at, rn.ended_at, rn.error_code,
      rn.error_message, rn.retry_requested, rn.restarts_before, rn.previous_checksum, rn.stands,
      rn.silent_since, n.revoked_at is not null as is_revoked,
      state.fingerprint as recorded, sa.rollout_id is not distinct from rn.rollout_id as assigned,
      n.labels->>${rollout.max_unavailable?.label ?? ""} as label_value,
      ${stateOf(tx)} as state, ${elsewhere(tx, rollout)} as elsewhere, hb.received_at,
      program.report as program
    from rollout_nodes rn
    join nodes n on n.id = rn.node_id
    left join node_profiles np on np.node_id = rn.node_id and np.chain_profile_id = ${rollout.chain_profile_id}
    left join node_config_state state
      on state.node_id = rn.node_id and state.chain_profile_id = ${rollout.chain_profile_id}
    left join service_assignments sa
      on sa.node_id = rn.node_id and sa.chain_profile_id = ${rollout.chain_profile_id}
    left join node_heartbeats hb on hb.node_id = rn.node_id and (rn.status in ('failed', 'failed_rollback')
      or (rn.status = 'in_progress' and (rn.upgrade_phase = 'VERIFYING' or rn.node_id in ${each(tx, reported)})))
    left join lateral (
      select report from jsonb_array_elements(hb.programs) as report
      where report->>'chain_profile_id' = ${rollout.chain_profile_id} limit 1
    ) program on true
    where rn.rollout_id = ${rollout.id} ${which}`;
  return rows.map((row) => ({
    nodeId: row.node_id,
    batchIndex: row.batch_index,
    status: row.status,
    phase: row.upgrade_phase,
    actionName: row.action_name,
    progressPct: row.progress_pct,
    waitingFor: row.waiting_for,
    direction: row.direction,
    attempt: row.attempt_count,
    commandId: row.command_id,
    launchedAt: ms(row.launched_at),
    installedAt: ms(row.installed_at),
    errorCode: row.error_code,
    errorMessage: row.error_message,
    retryRequested: row.retry_requested,
    silentSince: ms(row.silent_since),
    isRevoked: row.is_revoked,
    target: rollout.target_binary_checksum as Digest,
    previous: row.previous_checksum,
    recorded: row.recorded,
    stands: row.stands,
    measured: measuredBy(row),
    assigned: row.assigned,
    labelValue: row.label_value,
    elsewhere: row.elsewhere,
    facts: factsOf(row),
  }));
}
