import { useConnection } from "../api/connection.ts";
import type { StreamState } from "../api/event-stream.ts";

const TEXT: Record<StreamState, string> = {
  connecting: "Connecting…",
  live: "Live",
  lost: "Connection lost, retrying",
};

export function ConnectionState() {
  const state = useConnection();
  return (
    <output className="connection" data-state={state}>
      {TEXT[state]}
    </output>
  );
}
