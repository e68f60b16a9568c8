/** Whether the page in view hears from the server: one value, set by its stream, shown in the header. */
import { useSyncExternalStore } from "react";
import type { StreamState } from "./event-stream.ts";

let state: StreamState = "connecting";
const listeners = new Set<() => void>();

export function setConnection(next: StreamState): void {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useConnection = (): StreamState => useSyncExternalStore(subscribe, () => state);
