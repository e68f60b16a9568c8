/** Writes a group's decision in the transaction that read its rows: its own state, and signals to its components. */
import { randomUUID } from "node:crypto";
import type { GroupDecidedEvent, GroupDecision, GroupRows } from "../../core/group/rows.ts";
import type { GroupId } from "../../core/protocol/group-api.ts";
import type { Json } from "../../core/json.ts";
import { isGroupActive } from "../../core/group/states.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents, type NewEvent } from "../events/append.ts";
import { countRestartsFromNow } from "../rollout/restarts.ts";
import type { LoadedGroup } from "./load.ts";

export async function commitGroup(
  tx: Transaction,
  { rows, revision, now }: LoadedGroup,
  decision: GroupDecision,
): Promise<void> {
  const { id } = rows.group;
  await signalComponents(tx, rows, decision);
  await consume(tx, rows, decision);
  await beginWatch(tx, rows, decision);
  await patchGroup(tx, id, decision, revision, now);
  await appendEvents(
    tx,
    decision.events.map((event) => eventRow(id, event)),
  );
}

/** In the name of whoever asked the group last: the group itself wants nothing. */
async function signalComponents(tx: Transaction, rows: GroupRows, decision: GroupDecision): Promise<void> {
  if (decision.componentSignals.length === 0) return;
  const { id } = rows.group;
  const [asked] = await tx<{ actor: string }[]>`
    select actor from group_signals where group_id = ${id} order by id desc limit 1`;
  const signals = decision.componentSignals.map(({ rolloutId, kind }) => ({
    rollout_id: rolloutId,
    kind,
    actor: asked?.actor ?? "group",
    reason: `group ${id}`,
    idempotency_key: `${id}:${rolloutId}:${kind}:${randomUUID()}`,
  }));
  await tx`insert into rollout_signals ${tx(signals)}`;
}

/** The watch over a completed component begins: restarts from before it are no part of it. */
async function beginWatch(
  tx: Transaction,
  { group: before, components }: GroupRows,
  { group }: GroupDecision,
): Promise<void> {
  const component = components[group.currentComponent];
  if (component === undefined || group.gateUntil === null || group.gateUntil === before.gateUntil) return;
  if (before.healthWaitMs > 0) await countRestartsFromNow(tx, component.id, tx`rn.status = 'succeeded'`);
}

async function consume(tx: Transaction, rows: GroupRows, { appliedSignals }: GroupDecision): Promise<void> {
  const signals = rows.signals.map(({ id }) => id);
  if (signals.length === 0) return;
  await tx`
    update group_signals set consumed_at = now(), applied = id = any(${[...appliedSignals]})
    where id = any(${signals})`;
}

async function patchGroup(
  tx: Transaction,
  id: GroupId,
  { group, wakeAt }: GroupDecision,
  revision: number,
  now: number,
): Promise<void> {
  const at = (ms: number | null) => (ms === null ? null : new Date(ms));
  const started = group.status === "pending" ? null : new Date(now);
  await tx`
    update rollout_groups set status = ${group.status}, current_component = ${group.currentComponent},
      failed_component = ${group.failedComponent}, gate_until = ${at(group.gateUntil)},
      pause_requested = ${group.pauseRequested}, cancel_requested = ${group.cancelRequested},
      why = ${group.why === null ? null : tx.json({ ...group.why })}, wake_at = ${at(wakeAt)},
      seen_revision = ${revision}, started_at = coalesce(started_at, ${started}),
      ended_at = case when not ${isGroupActive(group.status)} then coalesce(ended_at, ${new Date(now)}) end
    where id = ${id}`;
}

function eventRow(id: GroupId, event: GroupDecidedEvent): NewEvent {
  const { kind, ...data } = event;
  const base = { kind, group_id: id, data: data as unknown as Json };
  if (event.kind === "group.component") return { ...base, rollout_id: event.rolloutId };
  if (event.kind === "group.signal") return { ...base, actor: event.actor };
  return base;
}
