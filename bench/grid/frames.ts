/** How long each frame of a page takes: the time between two calls of requestAnimationFrame. */
import type { Page } from "playwright-core";
import { percentile } from "../support/statistics.ts";

export interface FrameTimes {
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
  /** Per cent of the frames. */
  readonly long: number;
}

/** What browsers call a long task: from here on a hand feels it. */
export const LONG_MS = 50;

/** Watches for that long; with `scrollPx` the page moves by so much each frame, up and down. */
export const watchFrames = (page: Page, watchMs: number, scrollPx = 0): Promise<number[]> =>
  page.evaluate(
    ({ watchMs: until, scrollPx: step }) =>
      new Promise<number[]>((done) => {
        const times: number[] = [];
        const began = performance.now();
        let last: number | undefined;
        let move = step;
        function frame(now: number): void {
          if (last !== undefined) times.push(now - last);
          last = now;
          const before = window.scrollY;
          if (move !== 0) window.scrollBy(0, move);
          if (window.scrollY === before) move = -move;
          if (now - began < until) requestAnimationFrame(frame);
          else done(times);
        }
        requestAnimationFrame(frame);
      }),
    { watchMs, scrollPx },
  );

export const frameTimes = (times: readonly number[]): FrameTimes => ({
  median: percentile(times, 0.5),
  p99: percentile(times, 0.99),
  worst: Math.max(...times),
  long: (times.filter((ms) => ms >= LONG_MS).length / times.length) * 100,
});
