/** Who is told: webhooks as administrators make, look at, switch and remove them. */
import { randomBytes, randomUUID } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import {
  WebhookId,
  WebhookView,
  type WebhookCreate,
  type WebhookCreated,
  type WebhookList,
} from "../../core/protocol/incident-api.ts";
import type { Database, Queryable } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { checkWebhookUrl } from "./addresses.ts";
import type { SecretBox } from "./secret-box.ts";

export interface WebhookDeps {
  readonly db: Database;
  readonly box: SecretBox;
  readonly allowPrivate: boolean;
}

const SECRET_BYTES = 32;

/** The secret is answered here and never again. */
export async function createWebhook(
  { db, box, allowPrivate }: WebhookDeps,
  { name, url, events }: WebhookCreate,
  actor: string,
): Promise<WebhookCreated> {
  const { href } = checkWebhookUrl(url, allowPrivate);
  const id = WebhookId.parse(randomUUID());
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
  return db.begin(async (tx) => {
    const [count] = await tx<{ count: number }[]>`select count(*)::int as count from webhooks`;
    if (count!.count >= LIMITS.webhooksMax)
      throw new FairleadError("INVALID_INPUT", `there are ${LIMITS.webhooksMax} webhooks already`);
    const made = await tx`
      insert into webhooks (id, name, url, sealed_secret, events, created_by)
      values (${id}, ${name}, ${href}, ${box.seal(id, secret)}, ${[...new Set(events)]}, ${actor})
      on conflict (name) do nothing returning id`;
    if (made.length === 0)
      throw new FairleadError("INVALID_INPUT", `body.name: there is a webhook ${name} already`, {
        field: "body.name",
      });
    await appendEvents(tx, [{ kind: "webhook.created", actor, data: { webhook_id: id, name } }]);
    return { webhook: await readWebhook(tx, id), secret };
  });
}

export async function listWebhooks(db: Database): Promise<WebhookList> {
  const rows = await db<Row[]>`${select(db)} order by name`;
  return { webhooks: rows.map(viewOf) };
}

export async function readWebhook(db: Queryable, id: WebhookId): Promise<WebhookView> {
  const [row] = await db<Row[]>`${select(db)} where id = ${id}`;
  if (row === undefined) throw new FairleadError("NOT_FOUND", `there is no webhook ${id}`);
  return viewOf(row);
}

/** While it is off nothing new is put down for it, and what waits goes on waiting. */
export async function switchWebhook(
  db: Database,
  id: WebhookId,
  enabled: boolean,
  actor: string,
): Promise<WebhookView> {
  return db.begin(async (tx) => {
    const switched = await tx`
      update webhooks set enabled = ${enabled} where id = ${id} and enabled <> ${enabled} returning id`;
    const webhook = await readWebhook(tx, id);
    const kind = enabled ? "webhook.enabled" : "webhook.disabled";
    const { name } = webhook;
    if (switched.length > 0) await appendEvents(tx, [{ kind, actor, data: { webhook_id: id, name } }]);
    return webhook;
  });
}

/** With all its deliveries. */
export async function removeWebhook(db: Database, id: WebhookId, actor: string): Promise<void> {
  await db.begin(async (tx) => {
    const [row] = await tx<{ name: string }[]>`delete from webhooks where id = ${id} returning name`;
    if (row === undefined) throw new FairleadError("NOT_FOUND", `there is no webhook ${id}`);
    const data = { webhook_id: id, name: row.name };
    await appendEvents(tx, [{ kind: "webhook.removed", actor, data }]);
  });
}

interface Row {
  readonly created_at: Date;
}

const select = (db: Queryable) =>
  db`select id, name, url, events, enabled, created_by, created_at from webhooks`;

const viewOf = (row: Row): WebhookView =>
  WebhookView.parse({ ...row, created_at: row.created_at.toISOString() });
