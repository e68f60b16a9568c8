/** A machine's clocks, moved by hand: time passes, the machine is suspended, or somebody sets the wall clock. */
import type { MachineClock } from "../../../src/host/clock.ts";

export interface MovableClock extends MachineClock {
  pass(ms: number): void;
  suspend(ms: number): void;
  jump(ms: number): void;
}

/** Starts at the real time, and stands still until it is moved. */
export function movableClock(startMs: number = Date.now()): MovableClock {
  let [wall, monotonic, boot] = [startMs, 1_000_000, 5_000_000];
  return {
    now: () => wall,
    monotonic: () => monotonic,
    sinceBoot: () => boot,
    pass(ms) {
      wall += ms;
      monotonic += ms;
      boot += ms;
    },
    suspend(ms) {
      wall += ms;
      boot += ms;
    },
    jump(ms) {
      wall += ms;
    },
  };
}
