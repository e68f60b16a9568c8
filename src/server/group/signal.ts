/** An operator's wish about a group becomes a row: who, what, why. The next step of the group reads it. */
import { randomUUID } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import { groupRefusalOf } from "../../core/group/allow.ts";
import { isGroupActive, type GroupSignalKind, type GroupStatus } from "../../core/group/states.ts";
import type { GroupId } from "../../core/protocol/group-api.ts";
import type { SignalRequest } from "../../core/protocol/operator-api.ts";
import type { Why } from "../../core/rollout/rows.ts";
import type { Database, Transaction } from "../db/database.ts";
import { reclaimProfile } from "../rollout/reclaim-profile.ts";
import { refuseChangedSince } from "../rollout/refuse-signal.ts";
import { componentRow, loadComponents } from "./load.ts";

export interface GroupWish {
  readonly id: GroupId;
  readonly kind: GroupSignalKind;
  readonly actor: string;
  readonly request: SignalRequest;
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
export async function storeGroupSignal(db: Database, wish: GroupWish): Promise<boolean> {
  const { id, kind, actor, request, idempotencyKey } = wish;
  if (request.intent !== undefined)
    throw new FairleadError("INVALID_INPUT", "intent: each component has its own; give it to the component");
  const key = `${id}:${kind}:${idempotencyKey ?? randomUUID()}`;
  return db.begin(async (tx) => {
    const [group] = await tx<SignalledGroup[]>`
      select status, why, pause_requested as "pauseRequested", cancel_requested as "cancelRequested",
        failed_component as "failedComponent", chain_profile_id as profile
      from rollout_groups where id = ${id} for update`;
    if (group === undefined) throw new FairleadError("NOT_FOUND", `no rollout group ${id}`);
    const [again] = await tx`select 1 from group_signals where idempotency_key = ${key}`;
    if (again !== undefined) return false;
    await refuseIllegal(tx, id, group, kind);
    await tx`
      insert into group_signals (group_id, kind, actor, reason, idempotency_key)
      values (${id}, ${kind}, ${actor}, ${request.reason ?? null}, ${key})`;
    return true;
  });
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
