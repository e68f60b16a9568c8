/**
 * Sends what waits, and tries again what failed.
 *
 * 1. A delivery is claimed for longer than an attempt may take, and sent outside of any transaction: of all replicas
 *    one sends it, and when that one dies another sends it again, with the same id.
 * 2. A receiver that is slow or gone holds up nobody else: each has a few attempts under way at most.
 */
import { retryDelayMs } from "../../core/notify/retry.ts";
import { LIMITS } from "../../core/limits.ts";
import type { DeliveryId, WebhookId } from "../../core/protocol/incident-api.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import { repeat } from "../repeat.ts";
import { DELIVERIES_CHANNEL } from "./deliveries.ts";
import type { SecretBox } from "./secret-box.ts";
import { sendMessage, type Sent } from "./send.ts";

const LOOK_MS = 1_000;
const TIDY_MS = 3_600_000;
const underWayMax = 32;
const perWebhookMax = 4;
const claimMs = 3 * LIMITS.webhookTimeoutMs;
const errorCharsMax = 500;

export interface DispatcherDeps {
  readonly db: Database;
  readonly box: SecretBox;
  readonly allowPrivate: boolean;
  readonly now: () => number;
  readonly random: () => number;
  readonly metrics: Pick<ServerMetrics, "webhookDeliveries">;
  readonly log: Logger;
  readonly retryBaseMs?: number;
}

interface Claimed {
  readonly id: DeliveryId;
  readonly webhook_id: WebhookId;
  readonly attempts: number;
  readonly body: unknown;
  readonly url: string;
  readonly sealed_secret: Uint8Array;
}

export async function startDispatcher(deps: DispatcherDeps): Promise<{ stop(): Promise<void> }> {
  const { db, log } = deps;
  const underWay = new Map<DeliveryId, { readonly webhook: WebhookId; readonly done: Promise<void> }>();

  async function handOver(claimed: Claimed, stopping: AbortSignal): Promise<void> {
    try {
      await record(deps, claimed, await attempt(deps, claimed, stopping));
    } catch (error) {
      // Left as it was claimed: it is due again when the claim has passed.
      if (!stopping.aborted) log.warn("delivery not recorded", { id: claimed.id, error: String(error) });
    } finally {
      underWay.delete(claimed.id);
      sending.wake();
    }
  }

  const sending = repeat("sending to webhooks", LOOK_MS, log, async (stopping) => {
    const busy = [...new Set([...underWay.values()].map(({ webhook }) => webhook))];
    for (const claimed of await claim(db, busy, underWayMax - underWay.size))
      underWay.set(claimed.id, { webhook: claimed.webhook_id, done: handOver(claimed, stopping) });
  });
  const tidying = repeat("removing old deliveries", TIDY_MS, log, () => dropOld(db));
  const listener = await db.listen(DELIVERIES_CHANNEL, sending.wake, sending.wake);
  return {
    async stop() {
      await Promise.all([sending.stop(), tidying.stop()]);
      await Promise.all([...underWay.values()].map(({ done }) => done));
      await listener.unlisten();
    },
  };
}

async function claim(db: Database, busy: readonly WebhookId[], room: number): Promise<Claimed[]> {
  if (room <= 0) return [];
  return db.begin(
    async (tx) => tx<Claimed[]>`
      with due as materialized (
        select d.id, w.url, w.sealed_secret from webhooks w cross join lateral (
          select id from webhook_deliveries
          where webhook_id = w.id and status = 'pending' and next_attempt_at <= now()
          order by next_attempt_at, event_id, id limit ${perWebhookMax} for update skip locked) d
        where w.enabled and w.id <> all(${[...busy]}::uuid[]) limit ${room})
      update webhook_deliveries d set attempts = d.attempts + 1,
        next_attempt_at = now() + make_interval(secs => ${claimMs / 1000})
      from due where d.id = due.id
      returning d.id, d.webhook_id, d.attempts, d.body, due.url, due.sealed_secret`, // (1) (2)
  );
}

async function attempt(deps: DispatcherDeps, claimed: Claimed, signal: AbortSignal): Promise<Sent> {
  const { id, webhook_id, url, body, sealed_secret } = claimed;
  let secret;
  try {
    secret = deps.box.open(webhook_id, sealed_secret);
  } catch {
    return { kind: "failed", status: null, error: "its secret was sealed under the key of another site" };
  }
  return sendMessage({ id, url, secret, body }, { allowPrivate: deps.allowPrivate, now: deps.now, signal });
}

async function record(
  deps: DispatcherDeps,
  { id, webhook_id, attempts }: Claimed,
  sent: Sent,
): Promise<void> {
  const { db, metrics } = deps;
  if (sent.kind === "taken") {
    metrics.webhookDeliveries.add({ outcome: "delivered" });
    await db`
      update webhook_deliveries set status = 'delivered', delivered_at = now(), last_status = ${sent.status},
        last_error = null where id = ${id} and attempts = ${attempts}`;
    return;
  }
  const isLast = sent.kind === "gone" || attempts >= LIMITS.webhookAttemptsMax;
  metrics.webhookDeliveries.add({ outcome: isLast ? "failed" : "retried" });
  const delayMs = retryDelayMs(attempts, deps.random(), deps.retryBaseMs);
  const error = sent.kind === "gone" ? "answered 410: it wants no more" : sent.error.slice(0, errorCharsMax);
  await db`
    update webhook_deliveries set status = ${isLast ? "failed" : "pending"}, last_status = ${sent.status},
      last_error = ${error}, next_attempt_at = now() + make_interval(secs => ${delayMs / 1000})
    where id = ${id} and attempts = ${attempts}`;
  if (sent.kind === "gone") await switchOff(db, webhook_id);
}

async function switchOff(db: Database, id: WebhookId): Promise<void> {
  await db.begin(async (tx) => {
    const [off] = await tx<{ name: string }[]>`
      update webhooks set enabled = false where id = ${id} and enabled returning name`;
    if (off === undefined) return;
    const data = { webhook_id: id, name: off.name, reason: "answered 410 Gone" };
    await appendEvents(tx, [{ kind: "webhook.disabled", data }]);
  });
}

async function dropOld(db: Database): Promise<void> {
  await db`
    delete from webhook_deliveries where status <> 'pending'
      and created_at < now() - make_interval(secs => ${LIMITS.deliveriesKeptMs / 1000})`;
}
