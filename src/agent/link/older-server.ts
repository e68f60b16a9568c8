/**
 * Heartbeats to a control plane of before the optional fields of a heartbeat: it reads strictly and refuses the whole.
 *
 * 1. After such a refusal the heartbeat is repeated once without the fields; accepted so, the next ones go without too.
 * 2. The whole heartbeat is tried again from time to time: the control plane may have been upgraded.
 */
import { FairleadError } from "../../core/errors.ts";
import type { Heartbeat } from "../../core/protocol/agent-api.ts";

/** About ten minutes of heartbeats. */
const HEARTBEATS_UNTIL_WHOLE = 20;

export function createHeartbeatFallback() {
  let without = 0;
  return async (heartbeat: Heartbeat, send: (heartbeat: Heartbeat) => Promise<void>): Promise<void> => {
    if (without > 0) {
      without -= 1; // (2)
      return send(withoutNewerFields(heartbeat));
    }
    try {
      await send(heartbeat);
    } catch (error) {
      if (!(error instanceof FairleadError) || error.code !== "INVALID_INPUT") throw error;
      await send(withoutNewerFields(heartbeat));
      without = HEARTBEATS_UNTIL_WHOLE; // (1)
    }
  };
}

function withoutNewerFields({ instance: _instance, programs, ...rest }: Heartbeat): Heartbeat {
  return { ...rest, programs: programs.map(({ started_alone: _startedAlone, ...program }) => program) };
}
