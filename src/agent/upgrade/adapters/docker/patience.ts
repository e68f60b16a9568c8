/**
 * An engine that is being restarted is waited for: every step finds what is done already, so it is simply asked again.
 * A question that was not answered in time is asked again too, for a socket may be held open while its engine starts.
 * A change is not: it may still be under way.
 */
import { FairleadError } from "../../../../core/errors.ts";
import { type Clock, sleep } from "../../../../host/clock.ts";

const ENGINE_WAIT_MS = 20_000;
const RETRY_MS = 200;

export type Patiently = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

export function patience(clock: Clock, waitMs: number = ENGINE_WAIT_MS): Patiently {
  return async (work, signal) => {
    for (const until = clock.monotonic() + waitMs; ; await sleep(RETRY_MS, signal)) {
      signal?.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (!isAbsence(error) || clock.monotonic() >= until) throw error;
      }
    }
  };
}

const isAbsence = (error: unknown): boolean =>
  error instanceof FairleadError &&
  error.code === "RUNTIME_UNRESPONSIVE" &&
  error.detail?.["change"] === undefined;
