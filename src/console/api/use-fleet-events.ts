/** Keeps the lists fresh: any event of the fleet makes them be read again, not more often than once a second. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { setConnection } from "./connection.ts";
import { openEventStream } from "./event-stream.ts";
import { KEYS } from "./queries.ts";
import { throttle } from "./throttle.ts";

const REFRESH_MS = 1_000;

export function useFleetEvents(): void {
  const client = useQueryClient();
  useEffect(() => {
    const refresh = throttle(REFRESH_MS, () => {
      void client.invalidateQueries({ queryKey: KEYS.nodes });
      void client.invalidateQueries({ queryKey: KEYS.rollouts });
      void client.invalidateQueries({ queryKey: KEYS.groups });
      void client.invalidateQueries({ queryKey: KEYS.incidents });
    });
    let wasLost = false;
    const close = openEventStream("/events", null, {
      onEvents: refresh,
      onState: (state) => {
        setConnection(state);
        // The stream starts with "from now on": what happened while it was down is in the rows.
        if (state === "live" && wasLost) refresh();
        wasLost = state === "lost";
      },
    });
    return () => {
      refresh.cancel();
      close();
    };
  }, [client]);
}
