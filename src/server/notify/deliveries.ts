/** The log of what was sent to a webhook, and what an administrator may do about it: send it again, or send a test. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Uuid } from "../../core/ids.ts";
import {
  DeliveryId,
  DeliveryView,
  type DeliveryList,
  type WebhookId,
} from "../../core/protocol/incident-api.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import type { Page } from "../api/ports.ts";
import type { Database, Queryable } from "../db/database.ts";
import { readWebhook } from "./webhooks.ts";

export const DELIVERIES_CHANNEL = "fairlead_deliveries";

const After = z.tuple([z.string().regex(/^[0-9 :.+-]{10,40}$/), Uuid]);

/** Newest first. */
export async function listDeliveries(
  db: Database,
  webhookId: WebhookId,
  { limit, cursor }: Page,
): Promise<DeliveryList> {
  await readWebhook(db, webhookId);
  const after = cursor === undefined ? null : decodeCursor(cursor, After);
  const rows = await db<Row[]>`
    ${select(db)} where webhook_id = ${webhookId}
      ${after === null ? db`` : db`and (created_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
    order by created_at desc, id desc limit ${limit + 1}`;
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    deliveries: page.map(viewOf),
    next_cursor: last === undefined ? null : encodeCursor([last.created_at_exact, last.id]),
  };
}

/** The same message with the same id, however it ended before, with all its attempts anew. */
export async function redeliver(
  db: Database,
  webhookId: WebhookId,
  deliveryId: DeliveryId,
): Promise<DeliveryView> {
  const again = await db`
    update webhook_deliveries set status = 'pending', attempts = 0, next_attempt_at = now(), delivered_at = null
    where id = ${deliveryId} and webhook_id = ${webhookId} returning id`;
  if (again.length === 0)
    throw new FairleadError("NOT_FOUND", `webhook ${webhookId} has no delivery ${deliveryId}`);
  return announced(db, deliveryId);
}

export async function sendTest(db: Database, webhookId: WebhookId, actor: string): Promise<DeliveryView> {
  const { name } = await readWebhook(db, webhookId);
  const id = DeliveryId.parse(randomUUID());
  await db`
    insert into webhook_deliveries (id, webhook_id, kind, body)
    select ${id}, ${webhookId}, 'test', jsonb_build_object('type', 'test',
      'timestamp', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'data', ${db.json({ webhook: { id: webhookId, name }, asked_by: actor })}::jsonb)`;
  return announced(db, id);
}

async function announced(db: Database, id: DeliveryId): Promise<DeliveryView> {
  await db`select pg_notify(${DELIVERIES_CHANNEL}, '')`;
  const [row] = await db<Row[]>`${select(db)} where id = ${id}`;
  if (row === undefined) throw new FairleadError("NOT_FOUND", `there is no delivery ${id}`);
  return viewOf(row);
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly next_attempt_at: Date;
  readonly created_at: Date;
  readonly created_at_exact: string;
  readonly delivered_at: Date | null;
}

const select = (db: Queryable) => db`
  select id, webhook_id, kind, status, attempts, next_attempt_at, last_status, last_error, created_at,
    created_at::text as created_at_exact, delivered_at
  from webhook_deliveries`;

function viewOf(row: Row): DeliveryView {
  const { created_at_exact: _, ...shown } = row;
  return DeliveryView.parse({
    ...shown,
    next_attempt_at: row.status === "pending" ? row.next_attempt_at.toISOString() : null,
    created_at: row.created_at.toISOString(),
    delivered_at: row.delivered_at?.toISOString() ?? null,
  });
}
