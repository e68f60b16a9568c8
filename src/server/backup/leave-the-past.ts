/**
 * What a restored site must not believe: the fleet went on after the backup was made, and knows better.
 *
 * 1. What nodes run is theirs to say: what was recorded of it is forgotten, and their next heartbeat records it anew.
 * 2. No command of the past is handed out, and nothing goes on by itself: whatever was under way is paused until an
 *    operator has opened a new epoch, without which every node refuses what this site signs.
 * 3. A node that was at work, or may have been since, is asked anew under the next attempt's number: its verdict went to
 *    the site that is gone, and no node runs the same attempt twice.
 * 4. What was open is closed: an enrollment token may have been used or taken back since, and what webhooks and other
 *    readers of events still had to hear they have heard from the site that is gone.
 */
import type { Transaction } from "../db/database.ts";

const RESTORED_CODE = "SITE_RESTORED";
const WHY = {
  code: RESTORED_CODE,
  text: "the site was restored from a backup: open a new epoch with `fairlead authority new-epoch`, then resume",
};

export async function leaveThePast(tx: Transaction, now: number): Promise<void> {
  const at = new Date(now);
  await askAnew(tx);
  await tx`
    update rollouts set status = 'paused', why = ${tx.json(WHY)}, wake_at = null, health_until = null,
      pause_requested = false, rollback_requested = false
    where status in ('running', 'rolling_back')`; // (2)
  await tx`
    update rollout_groups set status = 'paused', why = ${tx.json(WHY)}, wake_at = null, gate_until = null,
      pause_requested = false
    where status in ('running', 'rolling_back')`;
  await tx`update commands set answered_at = ${at} where answered_at is null`; // (2)
  await tx`update rollout_signals set consumed_at = ${at} where consumed_at is null`; // (2)
  await tx`update group_signals set consumed_at = ${at} where consumed_at is null`; // (2)
  await tx`update upgrade_reports set consumed_at = ${at} where consumed_at is null`;
  await tx`delete from console_sessions`;
  await tx`delete from sign_in_codes`;
  await tx`delete from enrollment_tokens where used_by_key is null`; // (4)
  await tx`
    update webhook_deliveries set status = 'failed', last_error = 'the site was restored' where status = 'pending'`; // (4)
  await tx`update event_cursors set event_id = (select coalesce(max(id), 0) from events)`; // (4)
  await tx`delete from clock_confirmations`; // of the clock of another database
  await tx`delete from proven_time`; // likewise
  await tx`delete from node_heartbeats`; // (1)
  await tx`delete from node_config_state`; // (1)
  await tx`update node_profiles set state = 'active' where state = 'maintenance'`;
}

/** Invariant 3: the batch under way is opened again for its nodes at work; they and those to come count one attempt more. */
async function askAnew(tx: Transaction): Promise<void> {
  const open = tx`select id from rollouts where status in ('pending', 'running', 'paused')`;
  await tx`
    update rollout_nodes rn set attempt_count = 1, previous_version = s.binary_version, previous_checksum = s.fingerprint
    from rollouts r join node_config_state s on s.chain_profile_id = r.chain_profile_id
    where r.id = rn.rollout_id and r.id in (${open}) and rn.status = 'pending' and rn.attempt_count = 0
      and s.node_id = rn.node_id`;
  const moved = await tx<{ rollout_id: string }[]>`
    update rollout_nodes rn set status = 'pending', upgrade_phase = null, action_name = null, progress_pct = 0,
      command_id = null, launched_at = null, installed_at = null, batch_index = r.current_batch
    from rollouts r
    where r.id = rn.rollout_id and r.id in (${open}) and rn.status = 'in_progress' and rn.direction = 'forward'
    returning rn.rollout_id`;
  // The version of a node whose rollback was under way is unknown: its next heartbeat settles it.
  await tx`
    with lost as (
      update rollout_nodes rn set status = 'failed', stands = 'unknown', error_code = ${RESTORED_CODE}, ended_at = now(),
        error_message = 'the site was restored during the rollback of the node: look at what it runs'
      where rn.status = 'in_progress' and rn.direction = 'reverse'
      returning rn.rollout_id, rn.node_id
    )
    insert into unsettled_nodes (rollout_id, node_id) select rollout_id, node_id from lost
    on conflict (rollout_id, node_id) do update set since = excluded.since`;
  await tx`update rollout_nodes set retry_requested = false where retry_requested`; // (2)
  await tx`
    update rollouts r set current_batch = r.current_batch - 1,
      pending_nodes = (select count(*) from rollout_nodes rn where rn.rollout_id = r.id and rn.status = 'pending')
    where r.id = any(${[...new Set(moved.map(({ rollout_id }) => rollout_id))]}::uuid[])`;
}
