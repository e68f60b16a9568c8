/** Everything that tells others what happened: webhooks, and NATS where it is configured. */
import type { ClusterId } from "../../core/ids.ts";
import type { Clock } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { ServerConfig } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import { startDispatcher } from "./dispatcher.ts";
import { startNatsPublisher } from "./nats-publisher.ts";
import { startNotifier } from "./notifier.ts";
import { loadSecretBox } from "./secret-box.ts";
import type { WebhookDeps } from "./webhooks.ts";

export interface NotificationDeps {
  readonly db: Database;
  readonly config: Pick<ServerConfig, "keysDir" | "webhookAllowPrivate" | "nats">;
  readonly clusterId: ClusterId;
  readonly clock: Clock;
  readonly metrics: ServerMetrics;
  readonly log: Logger;
}

export interface Notifications {
  readonly webhooks: WebhookDeps;
  stop(): Promise<void>;
}

export async function startNotifications(deps: NotificationDeps): Promise<Notifications> {
  const { db, config, clusterId, clock, metrics, log } = deps;
  const webhooks = { db, box: await loadSecretBox(config.keysDir), allowPrivate: config.webhookAllowPrivate };
  const parts = [
    await startNotifier(db, log),
    await startDispatcher({ ...webhooks, now: clock.now, random: Math.random, metrics, log }),
    ...(config.nats === null
      ? []
      : [await startNatsPublisher({ db, target: config.nats, clusterId, metrics, log })]),
  ];
  return {
    webhooks,
    async stop() {
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
}
