/** Time comes in through here; whatever decides takes a `Clock` and never asks the machine. */
export interface Clock {
  /** Milliseconds since 1970: may jump. */
  now(): number;
  /** Milliseconds since some start: never goes back. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

export type Slept = "elapsed" | "aborted";

/** Waits; an abort ends the wait early and is told, not thrown: loops ask their own signal anyway. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<Slept> {
  if (signal?.aborted === true) return "aborted";
  return new Promise((done) => {
    const timer = setTimeout(() => end("elapsed"), ms);
    const onAbort = (): void => end("aborted");
    signal?.addEventListener("abort", onAbort, { once: true });
    function end(how: Slept): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      done(how);
    }
  });
}
