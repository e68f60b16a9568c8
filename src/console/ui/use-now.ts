/** The server's time, once a second, from one timer for all who show it. */
import { useSyncExternalStore } from "react";
import { serverNow } from "../api/server-clock.ts";

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = serverNow(Date.now());
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  now = serverNow(Date.now());
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** `everyMs`: how coarse the time is, so that an expensive view is drawn less often. */
export const useNow = (everyMs = TICK_MS): number =>
  useSyncExternalStore(subscribe, () => (everyMs === TICK_MS ? now : now - (now % everyMs)));
