/**
 * Work under a limit of time.
 *
 * 1. Whoever waits is told as soon as the time is up, also by work that never answers.
 * 2. No time is no time: where none is left, nothing begins.
 * 3. Work that was cut off gets a moment to notice, so that what follows does not run beside it.
 */
import type { FairleadError } from "../../core/errors.ts";
import { sleep } from "../../host/clock.ts";

const SETTLE_MS = 2_000;

export interface Budget {
  readonly ms: number;
  readonly expired: FairleadError;
  readonly parent: AbortSignal;
}

export async function within<T>(budget: Budget, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = startTimer(budget);
  const { signal } = limit;
  try {
    signal.throwIfAborted();
    const working = work(signal);
    try {
      return await Promise.race([working, rejectOnAbort(signal)]); // (1)
    } catch (error) {
      if (!signal.aborted) throw error;
      await settled(working); // (3)
      throw signal.reason;
    }
  } finally {
    limit.clear();
  }
}

/** A signal that aborts when the time is up or the parent aborts. */
export function startTimer({ ms, expired, parent }: Budget): { readonly signal: AbortSignal; clear(): void } {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(expired), Math.max(0, ms));
  if (ms <= 0) limit.abort(expired); // (2)
  return { signal: AbortSignal.any([parent, limit.signal]), clear: () => clearTimeout(timer) };
}

async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  );
}

async function settled(working: Promise<unknown>): Promise<void> {
  const moment = new AbortController();
  const done = working.then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([done, sleep(SETTLE_MS, moment.signal)]);
  moment.abort();
}
