import { sleep } from "../../../src/host/clock.ts";

const LIMIT_MS = 150_000;
const LOOK_EVERY_MS = 50;

/** Waits for a condition, not for a time; the limit only ends a test that hangs. A look that throws looks again. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | false | null | undefined> | T | false | null | undefined,
): Promise<T> {
  let last = "";
  for (const end = performance.now() + LIMIT_MS; performance.now() < end; await sleep(LOOK_EVERY_MS)) {
    try {
      const seen = await look();
      if (seen !== false && seen !== undefined && seen !== null) return seen;
      last = "";
    } catch (error) {
      last = `: ${String(error)}`;
    }
  }
  throw new Error(`never happened: ${what}${last}`);
}
