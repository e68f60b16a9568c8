/** A rollout as its row has it, and as a decision reads it. */
import type { RolloutId } from "../../core/ids.ts";
import type { MigrationType } from "../../core/manifest/schema.ts";
import type { GroupId } from "../../core/protocol/group-api.ts";
import type { MaxUnavailable } from "../../core/rollout/create.ts";
import type { RolloutRow, Why } from "../../core/rollout/rows.ts";
import type { RolloutStatus, Strategy } from "../../core/rollout/states.ts";
import { isCalledOff } from "./called-off.ts";

export const ms = (at: Date | null): number | null => (at === null ? null : at.getTime());

export interface RolloutRecord {
  readonly id: RolloutId;
  readonly group_id: GroupId | null;
  readonly chain_profile_id: string;
  readonly status: RolloutStatus;
  readonly migration_type: MigrationType;
  readonly recovery_plan: string | null;
  readonly batch_count: number;
  readonly current_batch: number;
  readonly failure_threshold: number;
  readonly force_continue: boolean;
  readonly skip_validation: boolean;
  readonly max_unavailable: MaxUnavailable | null;
  readonly health_wait_ms: number;
  readonly health_until: Date | null;
  readonly pause_requested: boolean;
  readonly cancel_requested: boolean;
  readonly rollback_requested: boolean;
  readonly canary_approved_by: string | null;
  readonly canary_approved_at: Date | null;
  readonly acknowledged_failures: number;
  readonly intent_frame: Buffer | null;
  readonly intent_not_after: Date | null;
  readonly void_intent_serial: number | null;
  readonly rollback_allowed: boolean;
  readonly target_binary_checksum: string;
  readonly why: Why | null;
  readonly strategy: Strategy;
  readonly started_at: Date | null;
  readonly db_now: Date;
}

export const rolloutRow = (row: RolloutRecord, intentUntrusted: string | null): RolloutRow => ({
  id: row.id,
  status: row.status,
  strategy: row.strategy,
  migrationType: row.migration_type,
  recoveryPlan: row.recovery_plan,
  batchCount: row.batch_count,
  currentBatch: row.current_batch,
  failureThreshold: row.failure_threshold,
  forceContinue: row.force_continue,
  skipValidation: row.skip_validation,
  maxUnavailable: row.max_unavailable,
  healthWaitMs: row.health_wait_ms,
  healthUntil: ms(row.health_until),
  pauseRequested: row.pause_requested,
  cancelRequested: row.cancel_requested,
  rollbackRequested: row.rollback_requested,
  canaryApprovedBy: row.canary_approved_by,
  canaryApprovedAt: ms(row.canary_approved_at),
  acknowledgedFailures: row.acknowledged_failures,
  intentNotAfter: ms(row.intent_not_after),
  intentCalledOff: isCalledOff(row),
  intentUntrusted,
  rollbackAllowed: row.rollback_allowed,
  why: row.why,
});
