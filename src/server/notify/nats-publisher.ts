/**
 * Tells events to NATS, from a cursor of its own.
 *
 * 1. The cursor moves when NATS has taken the messages: at least once, in order, from where it was, however long NATS
 *    was away. Nothing else waits for it.
 * 2. Pages are read at a pace, so that progress is told once a second per rollout at most.
 */
import type { ClusterId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import { repeat } from "../repeat.ts";
import { readEvents, registerReader } from "./event-reader.ts";
import { openNats, type NatsLink, type NatsTarget } from "./nats-connection.ts";
import { messagesOf } from "./nats-messages.ts";

const NATS_READER = "nats";
const PAGE_ROWS = 5_000;

export interface NatsPublisherDeps {
  readonly db: Database;
  readonly target: NatsTarget;
  readonly clusterId: ClusterId;
  readonly metrics: Pick<ServerMetrics, "natsMessages">;
  readonly log: Logger;
}

export async function startNatsPublisher(deps: NatsPublisherDeps): Promise<{ stop(): Promise<void> }> {
  const { db, target, clusterId, metrics, log } = deps;
  await registerReader(db, NATS_READER);
  let link: NatsLink | null = null;
  let isAway = false;

  async function ensureLink(): Promise<NatsLink | null> {
    if (link !== null && !link.isLost()) return link;
    try {
      link = await openNats(target);
      if (isAway) log.info("NATS reachable again, publishing queued events");
      isAway = false;
      return link;
    } catch (error) {
      lost(error);
      return null;
    }
  }

  /** Said once, not with every attempt. */
  function lost(error: unknown): void {
    if (!isAway) log.warn("NATS unreachable, events queued", { error: String(error) });
    isAway = true;
    link = null;
  }

  const telling = repeat("telling NATS", LIMITS.natsPaceMs, log, async () => {
    const open = await ensureLink();
    if (open === null) return;
    await readEvents(db, NATS_READER, PAGE_ROWS, async (tx, events) => {
      const messages = await messagesOf(tx, clusterId, events);
      try {
        await open.publish(messages); // (1)
      } catch (error) {
        lost(error);
        await open.close();
        throw error;
      }
      metrics.natsMessages.add({}, messages.length);
    });
  });
  return {
    async stop() {
      await telling.stop();
      await link?.close();
    },
  };
}
