/**
 * What a signal is refused for before it is stored. The rollout's row is locked: what is looked at here holds until
 * the row is committed, and the step that reads the signal looks again.
 */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId, RolloutId } from "../../core/ids.ts";
import { refusalOf } from "../../core/rollout/allow.ts";
import { componentTakes } from "../../core/rollout/members.ts";
import type { Why } from "../../core/rollout/rows.ts";
import {
  isActive,
  type NodeUpgradeStatus,
  type RolloutStatus,
  type SignalKind,
} from "../../core/rollout/states.ts";
import type { Transaction } from "../db/database.ts";
import { isCalledOff, isOutdated } from "./called-off.ts";
import { newestBundleContent, whyUntrusted } from "./intent-trust.ts";
import { isKnown, isOnTarget } from "./load-next.ts";
import { reclaimProfile } from "./reclaim-profile.ts";

export interface SignalledRollout {
  readonly id: RolloutId;
  readonly group_id: string | null;
  readonly chain_profile_id: string;
  readonly status: RolloutStatus;
  readonly why: Why | null;
  readonly pause_requested: boolean;
  readonly cancel_requested: boolean;
  readonly rollback_requested: boolean;
  readonly rollback_allowed: boolean;
  readonly intent_frame: Buffer | null;
  readonly intent_not_after: Date | null;
  readonly void_intent_serial: number | null;
}

interface Asked {
  readonly kind: SignalKind;
  readonly nodeId: NodeId | null;
}

const illegal = (row: SignalledRollout, kind: SignalKind, text: string): FairleadError =>
  new FairleadError("ILLEGAL_TRANSITION", text, { status: row.status, signal: kind });

export async function refuseIllegal(tx: Transaction, row: SignalledRollout, asked: Asked): Promise<void> {
  const { kind, nodeId } = asked;
  refuseMember(row, kind);
  const [same] = await tx`
    select 1 from rollout_signals where rollout_id = ${row.id} and kind = ${kind} and consumed_at is null
      and node_id is not distinct from ${nodeId}`;
  // Two starts at once, one wins: a signal that waits unread counts as done.
  if (same !== undefined) throw illegal(row, kind, `${kind} was asked for just now`);
  // One that waits unread will be applied first.
  const [back] = await tx`
    select 1 from rollout_signals where rollout_id = ${row.id} and kind = 'rollback' and consumed_at is null`;
  const refusal = refusalOf(
    {
      status: row.status,
      whyCode: row.why?.code ?? null,
      pauseRequested: row.pause_requested,
      cancelRequested: row.cancel_requested,
      rollbackRequested: row.rollback_requested || back !== undefined,
      rollbackAllowed: row.rollback_allowed,
      hasOnTarget: kind !== "rollback" || isActive(row.status) || (await hasOnTarget(tx, row.id)),
    },
    kind,
  );
  if (refusal !== null)
    throw new FairleadError(refusal.code, refusal.text, { status: row.status, signal: kind });
  if (kind === "retry" || kind === "skip" || kind === "give_up") await refuseNode(tx, row, asked);
  if (kind === "rollback" && !isActive(row.status)) await refuseLateRollback(tx, row);
}

function refuseMember(row: SignalledRollout, kind: SignalKind): void {
  const standing = { status: row.status, whyCode: row.why?.code ?? null };
  if (row.group_id === null || componentTakes(standing, kind)) return;
  throw new FairleadError("GROUP_MEMBER", `rollout ${row.id} is a component of a group`, {
    group_id: row.group_id,
    signal: kind,
  });
}

async function refuseNode(tx: Transaction, row: SignalledRollout, { kind, nodeId }: Asked): Promise<void> {
  if (nodeId === null) {
    if (kind === "skip") throw new FairleadError("INVALID_INPUT", "skip names a node");
    if (kind === "give_up") return refuseNobodySilent(tx, row);
    return refuseNothingToRetry(tx, row);
  }
  const [node] = await tx<{ status: NodeUpgradeStatus; retry_requested: boolean; is_revoked: boolean }[]>`
    select rn.status, rn.retry_requested, n.revoked_at is not null as is_revoked
    from rollout_nodes rn join nodes n on n.id = rn.node_id
    where rn.rollout_id = ${row.id} and rn.node_id = ${nodeId}`;
  if (node === undefined) throw new FairleadError("NOT_FOUND", `no node ${nodeId} in rollout ${row.id}`);
  if (kind === "retry" && node.status === "failed_rollback")
    throw illegal(row, kind, "the node's rollback failed too: a person must look at it, see its incident");
  if (kind === "retry" && node.is_revoked) throw illegal(row, kind, "the node was revoked: enroll it again");
  if (node.retry_requested) throw illegal(row, kind, "the node waits for its retry already");
  const wanted =
    ({ retry: "failed", give_up: "in_progress" } as const)[kind as "retry" | "give_up"] ?? "pending";
  if (node.status !== wanted)
    throw illegal(row, kind, `the node is ${node.status}; ${kind} is for one that is ${wanted}`);
}

async function refuseNothingToRetry(tx: Transaction, row: SignalledRollout): Promise<void> {
  const failed = await tx<{ known: boolean; waits: boolean }[]>`
    select distinct ${isKnown(tx)} as known, rn.retry_requested as waits
    from rollout_nodes rn where rn.rollout_id = ${row.id} and rn.status = 'failed'`;
  if (failed.some(({ known, waits }) => known && !waits)) return;
  throw illegal(
    row,
    "retry",
    failed.length > 0 && !failed.some(({ known }) => known)
      ? "every failed node of this rollout was revoked: enroll the machines again and create a rollout for them"
      : "no node of this rollout has failed without waiting for its retry",
  );
}

async function hasOnTarget(tx: Transaction, id: RolloutId): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`
    select exists (select 1 from rollout_nodes where rollout_id = ${id}
      and (${isOnTarget(tx)} or (status = 'failed' and stands = 'unknown'))) as found`;
  return row!.found;
}

async function refuseNobodySilent(tx: Transaction, row: SignalledRollout): Promise<void> {
  const [silent] = await tx`
    select 1 from rollout_nodes where rollout_id = ${row.id} and status = 'in_progress' and silent_since is not null
    limit 1`;
  if (silent === undefined)
    throw illegal(row, "give_up", "no node of this rollout is silent; name one to give it up");
}

/** The profile must be free, and its nodes still where this rollout left them. */
async function refuseLateRollback(tx: Transaction, row: SignalledRollout): Promise<void> {
  await reclaimProfile(tx, row.chain_profile_id, row.group_id ?? row.id);
  await refuseChangedSince(tx, row);
  const [onTarget] = await tx`
    select 1 from rollout_nodes where rollout_id = ${row.id} and ${isOnTarget(tx)} limit 1`;
  if (onTarget === undefined)
    throw new FairleadError(
      "ROLLBACK_REFUSED",
      "its nodes were given up and have not said since what they run: wait until they are heard of",
    );
}

export async function refuseChangedSince(
  tx: Transaction,
  row: Pick<SignalledRollout, "id" | "chain_profile_id">,
): Promise<void> {
  const [later] = await tx<{ rollout_id: RolloutId; source_version: string }[]>`
    select sa.rollout_id, r.source_version from rollout_nodes rn join rollouts r on r.id = rn.rollout_id
    join service_assignments sa on sa.node_id = rn.node_id and sa.chain_profile_id = ${row.chain_profile_id}
    where rn.rollout_id = ${row.id} and ${isOnTarget(tx, tx`rn`)} and sa.rollout_id is distinct from rn.rollout_id limit 1`;
  if (later === undefined) return;
  const { rollout_id, source_version } = later;
  const remedy = (await hasOnTarget(tx, rollout_id))
    ? "a later rollout has changed some of its nodes: roll that back"
    : `a later rollout upgraded and rolled back some of these nodes; they no longer store the version before it: create a rollout to ${source_version}`;
  throw new FairleadError("ROLLBACK_REFUSED", remedy, { rollout_id });
}

/** Nodes would refuse all of it one by one: said here, once, with what to do. */
export async function refuseWithoutWindow(
  tx: Transaction,
  row: SignalledRollout,
  kind: SignalKind,
  now: number,
): Promise<void> {
  if (kind !== "rollback" && kind !== "retry") return;
  if (row.intent_not_after !== null && row.intent_not_after.getTime() <= now)
    throw new FairleadError(
      "INTENT_EXPIRED",
      `the signed window closed at ${row.intent_not_after.toISOString()}`,
    );
  const untrusted = whyUntrusted(row, await newestBundleContent(tx), now);
  if (untrusted !== null)
    throw new FairleadError(
      "INTENT_REQUIRED",
      `nodes no longer take its intent: ${untrusted}. Sign a new one.`,
    );
  if (isCalledOff(row))
    throw new FairleadError("INTENT_REQUIRED", "its intent was called off by the cancel: sign a new one");
  if (!isActive(row.status) && (await isOutdated(tx, row)))
    throw new FairleadError(
      "INTENT_REQUIRED",
      "a later intent of its profile has outdated its own: sign a new one",
    );
}
