/** Events as they happen (SSE). A reader that comes back names the last event it saw and misses none. */
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { SSEReplyInterface } from "@fastify/sse";
import { z } from "zod";
import { RolloutId } from "../../../core/ids.ts";
import { LIMITS } from "../../../core/limits.ts";
import { EventView } from "../../../core/protocol/operator-api.ts";
import { isStillAllowed } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Events"];
const params = z.strictObject({ id: RolloutId });
const EventNumber = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const querystring = z.strictObject({ after: EventNumber.optional() });
const headers = z.object({ "last-event-id": EventNumber.optional() });
/** Events that wait for a slow reader; beyond them the database is not asked for more. */
const queuedEventsMax = 16;

const stream = { sse: "manual", exposeHeadRoute: false } as const;
const response = {
  200: { description: "One message per event.", content: { "text/event-stream": { schema: EventView } } },
};

export function registerEventRoutes(app: ZodApp, { events, rollouts }: OperatorsDeps): void {
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());

  app.get(
    "/rollouts/:id/events",
    {
      ...stream,
      schema: {
        tags,
        summary: "A rollout's events from the first one on, then live",
        params,
        querystring,
        headers,
        response,
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      await rollouts.get(id);
      const after = request.headers["last-event-id"] ?? request.query.after ?? 0;
      const isAllowed = async () => isStillAllowed(request);
      await send(reply, (signal) => events.subscribe({ rolloutId: id, after }, signal, isAllowed));
    },
  );

  app.get(
    "/events",
    { ...stream, schema: { tags, summary: "Every event, live", querystring, headers, response } },
    async (request, reply) => {
      const after = request.headers["last-event-id"] ?? request.query.after ?? "live";
      const isAllowed = async () => isStillAllowed(request);
      await send(reply, (signal) => events.subscribe({ after }, signal, isAllowed));
    },
  );

  async function send(
    { raw, sse }: { readonly raw: ServerResponse; readonly sse: SSEReplyInterface },
    subscribe: (signal: AbortSignal) => AsyncIterable<EventView>,
  ): Promise<void> {
    const gone = new AbortController();
    raw.once("close", () => gone.abort());
    // A stream lives no longer than a token: the reader comes back, and is asked who he is again.
    const expired = AbortSignal.timeout(LIMITS.operatorTokenLifetimeMs);
    const source = subscribe(AbortSignal.any([gone.signal, closing.signal, expired]));
    sse.sendHeaders();
    raw.flushHeaders(); // now, not with the first event: the reader wants to know that it is connected
    // As a stream: it waits while the reader is slow, and ends the subscription when the reader is gone.
    await sse.send(Readable.from(messages(source), { highWaterMark: queuedEventsMax }));
  }
}

async function* messages(source: AsyncIterable<EventView>) {
  for await (const event of source) yield { id: String(event.id), event: event.kind, data: event };
}
