/** Time comes in through here; whatever decides takes a `Clock` and never asks the machine. */
import { uptime } from "node:os";

export interface Clock {
  /** Milliseconds since 1970: may jump. */
  now(): number;
  /** Milliseconds since some start: never goes back. */
  monotonic(): number;
}

/** A clock whose jumps can be told from time that passed. */
export interface MachineClock {
  now(): number;
  /** Milliseconds, the same in every thread of the process; stands still while the machine is suspended. */
  monotonic(): number;
  /** Milliseconds since the machine started, suspended time included. */
  sinceBoot(): number;
}

export const machineClock: MachineClock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint() / 1_000_000n),
  sinceBoot: () => uptime() * 1000,
};

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
