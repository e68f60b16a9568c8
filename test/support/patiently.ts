import { vi } from "vitest";

/** Until it no longer throws. The limit is only there to end a test that hangs; vitest's own is a second. */
export const patiently = <T>(look: () => T | Promise<T>, intervalMs = 5): Promise<T> =>
  vi.waitFor(look, { timeout: 60_000, interval: intervalMs });
