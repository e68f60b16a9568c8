/** An operator's wish about a group becomes a row: who, what, why. The next step of the group reads it. */
import { randomUUID } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import { groupRefusalOf } from "../../core/group/allow.ts";
import { isGroupActive, type GroupSignalKind, type GroupStatus } from "../../core/group/states.ts";
import type { GroupId, GroupSignalRequest } from "../../core/protocol/group-api.ts";
import type { Why } from "../../core/rollout/rows.ts";
import type { Transaction } from "../db/database.ts";
import type { CreateDeps } from "../rollout/create.ts";
import { reclaimProfile } from "../rollout/reclaim-profile.ts";
import { refuseChangedSince } from "../rollout/refuse-signal.ts";
import { voidIntent, type VoidIntent } from "../rollout/void-intent.ts";
import { componentRow, loadComponents } from "./load.ts";

export interface GroupWish {
  readonly id: GroupId;
  readonly kind: GroupSignalKind;
  readonly actor: string;
  readonly request: GroupSignalRequest;
  readonly idempotencyKey: string | undefined;
}

interface SignalledGroup {
  readonly status: GroupStatus;
  readonly why: Why | null;
  readonly pauseRequested: boolean;
  readonly cancelRequested: boolean;
  readonly failedComponent: number | null;
  readonly profile: string;
}

/** False when the same wish was stored before. */
export async function storeGroupSignal(deps: CreateDeps, wish: GroupWish): Promise<boolean> {
  const { id, kind, actor, request, idempotencyKey } = wish;
  const { reason = null, void_intents: voids = [] } = request;
  if (voids.length > 0 && kind !== "cancel")
    throw new FairleadError("INVALID_INPUT", `void_intents: ${kind} takes none; cancel does`);
  const key = `${id}:${kind}:${idempotencyKey ?? randomUUID()}`;
  return deps.db.begin(async (tx) => {
    const [group] = await tx<SignalledGroup[]>`
      select status, why, pause_requested as "pauseRequested", cancel_requested as "cancelRequested",
        failed_component as "failedComponent", chain_profile_id as profile
      from rollout_groups where id = ${id} for update`;
    if (group === undefined) throw new FairleadError("NOT_FOUND", `no rollout group ${id}`);
    const [again] = await tx`select 1 from group_signals where idempotency_key = ${key}`;
    if (again !== undefined) return false;
    await refuseIllegal(tx, id, group, kind);
    for (const voided of voids) await callOff(tx, deps, id, { ...voided, actor, reason });
    await tx`
      insert into group_signals (group_id, kind, actor, reason, idempotency_key)
      values (${id}, ${kind}, ${actor}, ${reason}, ${key})`;
    return true;
  });
}

type VoidComponent = NonNullable<GroupSignalRequest["void_intents"]>[number] &
  Pick<VoidIntent, "actor" | "reason">;

/** Nodes count serials by profile: components of the same profile are outdated with it, and know it. */
async function callOff(
  tx: Transaction,
  deps: CreateDeps,
  id: GroupId,
  { rollout_id, intent, actor, reason }: VoidComponent,
): Promise<void> {
  const [component] = await tx<{ profile: string }[]>`
    select chain_profile_id as profile from rollouts where id = ${rollout_id} and group_id = ${id} for update`;
  if (component === undefined)
    throw new FairleadError("INVALID_INPUT", `void_intents: ${rollout_id} is no component of this group`);
  const serial = await voidIntent(tx, deps, { id: rollout_id, bytes: intent, actor, reason });
  await tx`
    update rollouts set void_intent_serial = ${serial}
    where group_id = ${id} and chain_profile_id = ${component.profile} and coalesce(void_intent_serial, 0) < ${serial}`;
}

async function refuseIllegal(
  tx: Transaction,
  id: GroupId,
  group: SignalledGroup,
  kind: GroupSignalKind,
): Promise<void> {
  const detail = { status: group.status, signal: kind };
  const [same] = await tx`
    select 1 from group_signals where group_id = ${id} and kind = ${kind} and consumed_at is null`;
  if (same !== undefined)
    throw new FairleadError("ILLEGAL_TRANSITION", `${kind} was asked for just now`, detail);
  const components = await loadComponents(tx, id);
  const refusal = groupRefusalOf(group, components.map(componentRow), kind);
  if (refusal !== null) throw new FairleadError(refusal.code, refusal.text, detail);
  if (kind !== "rollback" || isGroupActive(group.status)) return;
  const profiles = new Set([group.profile, ...components.map((component) => component.chain_profile_id)]);
  for (const profile of profiles) await reclaimProfile(tx, profile, id);
  for (const component of components) await refuseChangedSince(tx, component);
}
