/**
 * Events from the first that is asked for to the newest and on, over as many connections as it takes.
 *
 * 1. Every event comes once and in order: a new connection asks for what came after the last one seen.
 * 2. A lost connection is told and tried again, ever more slowly; a refusal is not tried again.
 */
import { FairleadError } from "../../core/errors.ts";
import { EventView } from "../../core/protocol/operator-api.ts";
import { sleep } from "../../host/clock.ts";
import type { Api } from "../api.ts";
import { parseSse, type SseMessage } from "./sse.ts";
import { isTransient } from "./transient.ts";

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Told when a connection is lost, with why; and with null when it is back. */
  readonly onLost: (why: string | null) => void;
  readonly retryFirstMs?: number;
  readonly retryMostMs?: number;
}

export const followRollout = (
  api: Api,
  rolloutId: string,
  options: FollowOptions,
): AsyncGenerator<EventView> => followEvents(api, `/api/v1/rollouts/${rolloutId}/events`, 0, options);

/** `after` null: only what happens from now on. */
export async function* followEvents(
  api: Api,
  path: string,
  after: number | null,
  options: FollowOptions,
): AsyncGenerator<EventView> {
  const { signal, onLost, retryFirstMs = 250, retryMostMs = 5000 } = options;
  let last = after;
  let retryMs = retryFirstMs;
  while (!signal.aborted) {
    try {
      const body = await api.events(last === null ? path : `${path}?after=${last}`, last, signal);
      onLost(null);
      try {
        for await (const message of parseSse(body)) {
          const event = eventOf(message);
          if (last !== null && event.id <= last) continue; // (1)
          last = event.id;
          retryMs = retryFirstMs;
          yield event;
        }
      } finally {
        body.destroy();
      }
      onLost("the server closed the stream");
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error; // (2)
      onLost(error.message);
    }
    await sleep(retryMs, signal);
    retryMs = Math.min(retryMs * 2, retryMostMs);
  }
}

function eventOf(message: SseMessage): EventView {
  const parsed = EventView.safeParse(jsonOrNothing(message.data));
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path.join(".") || "its data";
  throw new FairleadError(
    "INTERNAL",
    `an event of the server is not understood (${field}): do versions differ?`,
  );
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
