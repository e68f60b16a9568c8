/**
 * A stream of events that outlives its connection.
 *
 * 1. Events arrive in order, none twice: what a reconnect repeats is dropped by id.
 * 2. They are handed over together, once per animation frame, however many came.
 * 3. A hidden tab holds no connection (a browser grants six per server) and goes on where it stopped.
 */
import { EVENT_KINDS, readEvent, type FleetEvent } from "./events.ts";
import { API } from "./http.ts";

/** EventSource gives up for good on an HTTP error, such as a proxy's 502 while the server restarts. */
const REOPEN_MS = 3_000;

export type StreamState = "connecting" | "live" | "lost";

interface Listener {
  readonly onEvents: (events: readonly FleetEvent[]) => void;
  readonly onState: (state: StreamState) => void;
}

/** `after` null: only what happens from now on. */
export function openEventStream(
  path: string,
  after: number | null,
  { onEvents, onState }: Listener,
): () => void {
  let source: EventSource | null = null;
  let lastId = after;
  let waiting: FleetEvent[] = [];
  let frame = 0;
  let reopenTimer: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    clearTimeout(reopenTimer);
    source = new EventSource(`${API}${path}${lastId === null ? "" : `?after=${lastId}`}`);
    source.addEventListener("open", () => onState("live"));
    source.addEventListener("error", () => {
      onState("lost");
      if (source?.readyState === EventSource.CLOSED) reopenTimer = setTimeout(open, REOPEN_MS);
    });
    for (const kind of EVENT_KINDS) source.addEventListener(kind, take);
  }

  function take(message: MessageEvent<string>): void {
    const event = readEvent(message.data);
    if (event === null || (lastId !== null && event.id <= lastId)) return; // 1
    lastId = event.id;
    waiting.push(event);
    if (frame === 0) frame = requestAnimationFrame(handOver); // 2
  }

  function handOver(): void {
    frame = 0;
    const events = waiting;
    waiting = [];
    onEvents(events);
  }

  function close(): void {
    clearTimeout(reopenTimer);
    source?.close();
    source = null;
  }

  function followVisibility(): void {
    if (document.hidden) close(); // 3
    else if (source === null) open();
  }

  onState("connecting");
  document.addEventListener("visibilitychange", followVisibility);
  followVisibility();
  return () => {
    document.removeEventListener("visibilitychange", followVisibility);
    close();
    cancelAnimationFrame(frame);
  };
}
