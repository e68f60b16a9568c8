import { sleep } from "../../../src/host/clock.ts";

/** Waits for a condition, not for a time; the limit is only there to end a test that hangs. */
export async function until<T>(
  what: string,
  look: () => Promise<T | false | undefined> | T | false | undefined,
): Promise<T> {
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(10)) {
    const seen = await look();
    if (seen !== false && seen !== undefined) return seen;
  }
  throw new Error(`never happened: ${what}`);
}
