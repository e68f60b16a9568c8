/** Which failures pass by themselves, such as a server that restarts under a rollout that goes on. */
import { FairleadError } from "../../core/errors.ts";
import { sleep } from "../../host/clock.ts";

const TRANSIENT = new Set(["UNREACHABLE", "TIMEOUT", "NOT_READY", "PAYLOAD_TOO_LARGE", "TOO_MANY_REQUESTS"]);
const AGAIN_AFTER_MS = 500;

export const isTransient = (error: unknown): error is FairleadError =>
  error instanceof FairleadError && TRANSIENT.has(error.code);

/** Again and again while the failure is of that kind; after the signal, the last failure stands. */
export async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
    }
    await sleep(AGAIN_AFTER_MS, signal);
  }
}
