/**
 * Leaving in order.
 *
 * 1. Cleanups run one after the other, the last registered first: what was started last depends on what came before.
 * 2. One that fails or hangs keeps none of the others from running.
 * 3. A second signal leaves at once.
 */
import { sleep } from "./clock.ts";
import type { Logger } from "./log.ts";

export interface Shutdown {
  /** Aborted as soon as leaving begins. */
  readonly signal: AbortSignal;
  /** Registers a cleanup; the answer takes it back. */
  onShutdown(name: string, cleanup: () => Promise<void> | void): () => void;
  /** Runs the cleanups once; whoever calls again waits for the same run. */
  shutdown(reason: string): Promise<void>;
}

export interface ShutdownOptions {
  readonly log: Logger;
  readonly cleanupTimeoutMs?: number;
  /** Where signals come from and how the process ends: replaced in tests. */
  readonly host?: Pick<NodeJS.Process, "on" | "exit">;
}

const CLEANUP_TIMEOUT_MS_DEFAULT = 10_000;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export function createShutdown(options: ShutdownOptions): Shutdown {
  const { log, cleanupTimeoutMs = CLEANUP_TIMEOUT_MS_DEFAULT, host = process } = options;
  const cleanups: { readonly name: string; readonly cleanup: () => Promise<void> | void }[] = [];
  const leaving = new AbortController();
  let running: Promise<void> | undefined;

  async function cleanUp(reason: string): Promise<void> {
    log.info("leaving", { reason });
    leaving.abort();
    for (let next = cleanups.pop(); next !== undefined; next = cleanups.pop()) {
      const { name, cleanup } = next; // (1)
      try {
        const done = Promise.resolve(cleanup()).then(() => "done" as const);
        const how = await withTimeout(done, cleanupTimeoutMs);
        if (how === "timeout")
          log.error("cleanup hangs: going on without it", { cleanup: name, cleanupTimeoutMs });
      } catch (error) {
        log.error("cleanup failed", { cleanup: name, error }); // (2)
      }
    }
  }

  const shutdown = (reason: string): Promise<void> => (running ??= cleanUp(reason));

  for (const [signal, exitCode] of Object.entries(SIGNALS)) {
    host.on(signal, () => {
      if (running !== undefined) host.exit(exitCode); // (3)
      void shutdown(signal).finally(() => host.exit(exitCode));
    });
  }

  return {
    signal: leaving.signal,
    shutdown,
    onShutdown(name, cleanup) {
      const entry = { name, cleanup };
      cleanups.push(entry);
      return () => {
        const at = cleanups.indexOf(entry);
        if (at !== -1) cleanups.splice(at, 1);
      };
    },
  };
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T | "timeout"> {
  const settled = new AbortController();
  const limit = sleep(timeoutMs, settled.signal).then(() => "timeout" as const);
  return Promise.race([work, limit]).finally(() => settled.abort());
}
