/**
 * A poll that waits says so now and then (102): a replica that hangs still holds its connections open, and silence is
 * all that tells an agent.
 */
import type { ServerResponse } from "node:http";
import { LIMITS } from "../../core/limits.ts";

export interface LifeSigns {
  begin(): void;
  end(): void;
}

export function createLifeSigns(response: Pick<ServerResponse, "writeProcessing" | "destroyed">): LifeSigns {
  let timer: NodeJS.Timeout | undefined;
  const say = (): void => {
    if (!response.destroyed) response.writeProcessing();
  };
  return {
    begin() {
      if (timer !== undefined) return;
      say(); // an agent that has heard one expects the next
      timer = setInterval(say, LIMITS.pollLifeSignMs);
    },
    end: () => clearInterval(timer),
  };
}
