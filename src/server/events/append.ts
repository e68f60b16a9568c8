/**
 * Every state change leaves an event row in the same transaction.
 *
 * 1. Ids are given and committed in one order: whoever has read up to N has missed nothing below N.
 *    The lock is taken last and held for the commit only.
 */
import type { Json } from "../../core/json.ts";
import type { Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { pipelined } from "../db/pipelined.ts";

export const EVENTS_CHANNEL = "fairlead_events";

export interface NewEvent {
  readonly kind: string;
  readonly rollout_id?: string | null;
  readonly node_id?: string | null;
  readonly group_id?: string | null;
  readonly actor?: string | null;
  readonly data: Json;
}

export async function appendEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const append = () => tx`
    insert into events (at, kind, rollout_id, node_id, group_id, actor, data)
    select clock_timestamp(), e->>'kind', (e->>'rollout_id')::uuid, (e->>'node_id')::uuid,
      (e->>'group_id')::uuid, e->>'actor', e->'data'
    from jsonb_array_elements(${tx.json(events as never)}) with ordinality as t(e, place) order by place`;
  await pipelined(
    () => tx`select pg_advisory_xact_lock(${LOCKS.events})`, // (1)
    append,
    () => tx`select pg_notify(${EVENTS_CHANNEL}, '')`,
  );
}
