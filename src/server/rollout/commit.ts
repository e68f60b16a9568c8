/** Writes a decision in the transaction that read its rows, with an event for each change. */
import type { NodeId, RolloutId } from "../../core/ids.ts";
import {
  directionOf,
  type BatchLaunch,
  type Launch,
  type NodePatch,
  type RolloutDecision,
} from "../../core/rollout/decision.ts";
import type { RolloutRows } from "../../core/rollout/rows.ts";
import { isActive, isSettled } from "../../core/rollout/states.ts";
import type { Transaction } from "../db/database.ts";
import { pipelined } from "../db/pipelined.ts";
import { appendEvents } from "../events/append.ts";
import { raiseIncidents } from "../incidents/raise.ts";
import { resolveOfRollout } from "../incidents/resolve.ts";
import type { Authority } from "../snapshots/authority.ts";
import { eventsOf } from "./decided-events.ts";
import { isolated } from "./isolate.ts";
import { launchNodes } from "./launch.ts";
import { isKnown, isOnTarget } from "./load-next.ts";
import type { LoadedRollout } from "./load.ts";
import { failureEvent, failureIncidents, markFailed, notLaunched, notSettled } from "./node-failures.ts";
import { draftParcel, type ParcelDrafts } from "./parcel.ts";
import { countRestartsFromNow } from "./restarts.ts";
import { revokedLaunches } from "./revoked-bytes.ts";
import { settleNodes } from "./settle.ts";
import { noteUnsettled } from "./unsettled.ts";
import { notifyNodes } from "./wake.ts";

export async function commitDecision(
  tx: Transaction,
  authority: Authority,
  { rows, groupId }: Pick<LoadedRollout, "rows" | "groupId">,
  decision: RolloutDecision,
  now: number,
  from?: string,
): Promise<Committed> {
  const { id } = rows.rollout;
  const [, , opened] = await pipelined(
    () => requestRetries(tx, id, decision.retries),
    () => patchNodes(tx, id, decision.nodes, now),
    () => openBatch(tx, id, decision.launchBatch),
    () => consume(tx, rows, decision),
  );
  const launches = [...decision.launches, ...opened];
  const settled = decision.nodes.filter((node) => isSettled(node.status));
  const touched = settled.filter((node) => node.stands !== "untouched");
  const moved = [...launches, ...touched];
  // Settled before launched: a node that this step settles may go back at once, and its command names the last assignment.
  const [, published] = await pipelined(
    () => lockNodes(tx, moved),
    () => isolated(tx, touched, (part, some) => settleNodes(part, authority, id, some, now)),
  );
  const revoked = await revokedLaunches(tx, id, launches);
  const refused = new Set(revoked.map(({ item }) => item));
  const allowed = launches.filter((launch) => !refused.has(launch));
  const launched = await isolated(tx, allowed, (part, some) => launchNodes(part, authority, id, some, now));
  const failures = [
    ...[...revoked, ...launched.failed].map(notLaunched),
    ...published.failed.map(notSettled),
  ];
  await markFailed(tx, id, failures, now);
  await noteUnsettled(tx, id, [
    ...decision.nodes,
    ...failures.map(({ code, ...failure }) => ({ ...failure, errorCode: code, installedAt: null })),
  ]);
  if (decision.skipPending) await skipRest(tx, id);
  if (beginsWait(rows, decision))
    await countRestartsFromNow(tx, id, hasWaited(tx, now - rows.rollout.healthWaitMs));
  const movedIds = moved.map(({ nodeId }) => nodeId);
  const wakeAt = failures.length > 0 ? now + 1 : decision.wakeAt; // what failed here is judged by the next step
  await pipelined(
    () => patchRollout(tx, id, { ...decision, wakeAt }, now),
    () => notifyNodes(tx, movedIds, from),
    () =>
      raiseIncidents(
        tx,
        id,
        [...decision.incidents, ...failureIncidents({ ...rows.rollout, ...decision.rollout }, failures)],
        now,
      ),
  );
  if (isTrustedAgain(rows, decision))
    await resolveOfRollout(tx, "intent_untrusted", id, "signed again, or called off");
  const failed = new Set(failures.map(({ nodeId }) => nodeId));
  const begun = opened.filter(({ nodeId }) => !failed.has(nodeId));
  const events = [...decision.events, ...failures.map(failureEvent)];
  await appendEvents(tx, eventsOf({ id, groupId }, events, begun)); // the last: its lock is everybody's
  const parcels = new Map([
    ...movedIds.map((nodeId) => [nodeId, null] as const),
    ...published.made.map((snapshot) => [snapshot.nodeId, draftParcel(snapshot, null)] as const),
    ...launched.made,
  ]);
  return { parcels, wakeAt };
}

export interface Committed {
  readonly parcels: ParcelDrafts;
  readonly wakeAt: number | null;
}

const isTrustedAgain = ({ rollout: before }: RolloutRows, { rollout }: RolloutDecision): boolean =>
  before.why?.code === "INTENT_UNTRUSTED" && rollout.why?.code !== "INTENT_UNTRUSTED";

/** A wait of no length is over at once: then restarts count from the start of the program. */
const beginsWait = ({ rollout: before }: RolloutRows, { rollout }: RolloutDecision): boolean =>
  before.healthWaitMs > 0 && rollout.healthUntil !== null && rollout.healthUntil !== before.healthUntil;

/**
 * Installed for a whole wait and longer before the batch's wait begins. The restarts of all others are counted from the
 * start of their program, which a crash loop follows at once.
 */
const hasWaited = (tx: Transaction, before: number): ReturnType<Transaction> =>
  tx`rn.upgrade_phase = 'VERIFYING' and rn.installed_at <= ${new Date(before)}`;

/** Nodes never attempted, and retries that never began. */
async function skipRest(tx: Transaction, id: RolloutId): Promise<void> {
  await tx`update rollout_nodes set status = 'skipped' where rollout_id = ${id} and status = 'pending'`;
  await tx`update rollout_nodes set retry_requested = false where rollout_id = ${id} and retry_requested`;
}

/** A group looks at its components' states and at what they have read, not at their nodes. */
export const isNewsForGroup = ({ events }: RolloutDecision): boolean =>
  events.some(({ kind }) => kind === "rollout.status" || kind === "rollout.signal");

/** In the order of whoever else locks many of them, a new trust bundle above all: nobody waits in a circle. */
async function lockNodes(tx: Transaction, nodes: readonly { readonly nodeId: NodeId }[]): Promise<void> {
  if (nodes.length === 0) return;
  await tx`
    select 1 from nodes where id = any(${nodes.map(({ nodeId }) => nodeId)}) order by id for no key update`;
}

async function openBatch(tx: Transaction, id: RolloutId, batch: BatchLaunch | null): Promise<Launch[]> {
  if (batch === null) return [];
  const { index, part, most } = batch;
  const direction = directionOf(part);
  const isOfPart = {
    pending: tx`rn.status = 'pending'`,
    retried: tx`rn.retry_requested`,
    succeeded: isOnTarget(tx, tx`rn`),
  }[part];
  const rows = await tx<{ node_id: NodeId; attempt_count: number }[]>`
    select rn.node_id, rn.attempt_count from rollout_nodes rn
    where rn.rollout_id = ${id} and rn.batch_index = ${index} and ${isOfPart} and ${isKnown(tx)} limit ${most}`;
  // A way back bears the number of the attempt that it takes back.
  return rows.map(({ node_id, attempt_count }) => ({
    nodeId: node_id,
    direction,
    attempt: direction === "forward" ? attempt_count + 1 : attempt_count,
  }));
}

/** Before the nodes of this step are written: what fails in it is no part of what an operator has seen. */
async function requestRetries(
  tx: Transaction,
  id: RolloutId,
  retries: RolloutDecision["retries"],
): Promise<void> {
  if (retries.length === 0) return;
  const named = retries === "all" ? tx`` : tx`and rn.node_id = any(${[...retries]})`;
  await tx`
    update rollout_nodes rn set retry_requested = true
    where rn.rollout_id = ${id} and rn.status = 'failed' and ${isKnown(tx)} ${named}`;
}

async function patchNodes(
  tx: Transaction,
  id: RolloutId,
  nodes: readonly NodePatch[],
  now: number,
): Promise<void> {
  if (nodes.length === 0) return;
  const rows = nodes.map((node) => ({
    ...node,
    stands: node.stands === "untouched" ? null : node.stands,
    settled: isSettled(node.status),
  }));
  await tx`
    update rollout_nodes rn set status = p.status, batch_index = p."batchIndex", upgrade_phase = p.phase,
      action_name = p."actionName", progress_pct = p."progressPct", waiting_for = p."waitingFor",
      installed_at = to_timestamp(p."installedAt" / 1000.0), error_code = p."errorCode", error_message = p."errorMessage",
      retry_requested = p."retryRequested", stands = p.stands,
      silent_since = case when not p.settled then silent_since end,
      ended_at = case when p.settled then ${new Date(now)}::timestamptz end
    from jsonb_to_recordset(${tx.json(rows)}) as p("nodeId" uuid, "batchIndex" int, status text, phase text,
      "actionName" text, "progressPct" int, "waitingFor" text, "installedAt" double precision, "errorCode" text,
      "errorMessage" text, "retryRequested" boolean, stands text, settled boolean)
    where rn.rollout_id = ${id} and rn.node_id = p."nodeId"`;
}

async function consume(
  tx: Transaction,
  rows: RolloutRows,
  { appliedSignals, answeredReports }: RolloutDecision,
): Promise<void> {
  const signals = rows.signals.map((signal) => signal.id);
  if (signals.length > 0)
    await tx`
      update rollout_signals set consumed_at = now(), applied = id = any(${[...appliedSignals]})
      where id = any(${signals})`;
  if (answeredReports.length > 0)
    await tx`
      update upgrade_reports u set consumed_at = now(), outcome = a.outcome
      from unnest(${answeredReports.map(({ id }) => id)}::bigint[],
        ${answeredReports.map(({ outcome }) => outcome)}::text[]) as a(id, outcome)
      where u.id = a.id`;
}

async function patchRollout(
  tx: Transaction,
  id: RolloutId,
  decision: RolloutDecision,
  now: number,
): Promise<void> {
  const { rollout, wakeAt } = decision;
  const at = (ms: number | null) => (ms === null ? null : new Date(ms));
  const started = rollout.status === "pending" ? null : new Date(now);
  await tx`
    update rollouts set status = ${rollout.status}, current_batch = ${rollout.currentBatch},
      health_until = ${at(rollout.healthUntil)}, force_continue = ${rollout.forceContinue},
      pause_requested = ${rollout.pauseRequested}, cancel_requested = ${rollout.cancelRequested},
      rollback_requested = ${rollout.rollbackRequested}, canary_approved_by = ${rollout.canaryApprovedBy},
      canary_approved_at = ${at(rollout.canaryApprovedAt)}, acknowledged_failures = ${rollout.acknowledgedFailures},
      why = ${rollout.why === null ? null : tx.json({ ...rollout.why })}, wake_at = ${at(wakeAt)},
      revision = revision + ${isNewsForGroup(decision) ? 1 : 0}, started_at = coalesce(started_at, ${started}),
      ended_at = case when not ${isActive(rollout.status)} then coalesce(ended_at, ${new Date(now)}) end,
      succeeded_nodes = counted.succeeded, failed_nodes = counted.failed, pending_nodes = counted.pending
    from (
      select count(*) filter (where status = 'succeeded')::int as succeeded,
             count(*) filter (where status in ('failed', 'failed_rollback'))::int as failed,
             count(*) filter (where status in ('pending', 'in_progress'))::int as pending
      from rollout_nodes where rollout_id = ${id}
    ) counted
    where id = ${id}`;
}
