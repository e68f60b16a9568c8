/** A program has started when its unit is up and its process stays the same for a moment. */
import { FairleadError } from "../../../../core/errors.ts";
import { type Clock, sleep } from "../../../../host/clock.ts";
import type { UnitState } from "./unit-state.ts";

export interface SettleDeps {
  readonly look: () => Promise<UnitState>;
  readonly clock: Clock;
  readonly settleMs: number;
}

const POLL_MS = 50;

/** Throws PROGRAM_NOT_RUNNING when this start will not settle any more. */
export async function settled({ look, clock, settleMs }: SettleDeps, signal: AbortSignal): Promise<void> {
  const first = await look();
  for (let since: number | undefined; ;) {
    const state = await look();
    const now = clock.monotonic();
    if (!state.active || state.restarts > 0 || state.invocation !== first.invocation) throw ended(state);
    if (state.ready && state.pid > 0) since ??= now;
    if (since !== undefined && now - since >= settleMs) return;
    signal.throwIfAborted();
    await sleep(POLL_MS, signal);
  }
}

function ended({ result, exit, restarts }: UnitState): FairleadError {
  const how = exit === null ? result : exit.code === null ? `signal ${exit.signal}` : `code ${exit.code}`;
  const again = restarts > 0 ? `, systemd started it ${restarts} times again` : "";
  return new FairleadError("PROGRAM_NOT_RUNNING", `the program ended at once (${how}${again})`);
}
