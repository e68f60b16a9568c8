/** Work that is done again and again until the server leaves. A failure is logged, and the next round tries again. */
import { sleep } from "../host/clock.ts";
import type { Logger } from "../host/log.ts";

export interface Repeated {
  /** The next round begins at once, or right after the one that runs. */
  wake(): void;
  /** Waits for the round that runs. */
  stop(): Promise<void>;
}

/** A round may answer with the time until the next one, when it is not `everyMs`. */
type Round = (stopping: AbortSignal) => Promise<number | void>;

export function repeat(what: string, everyMs: number, log: Logger, round: Round): Repeated {
  const stopping = new AbortController();
  let isWoken = false;
  let resting = new AbortController();

  async function rest(ms: number): Promise<void> {
    if (isWoken || stopping.signal.aborted || ms <= 0) return;
    resting = new AbortController();
    await sleep(ms, resting.signal);
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      isWoken = false;
      let pause = everyMs;
      try {
        pause = (await round(stopping.signal)) ?? everyMs;
      } catch (error) {
        if (!stopping.signal.aborted) log.warn(`${what} failed, retrying`, { error: String(error) });
        await sleep(Math.min(everyMs, 1_000), stopping.signal);
      }
      await rest(pause);
    }
  }

  const running = loop();
  const wake = () => {
    isWoken = true;
    resting.abort();
  };
  return {
    wake,
    async stop() {
      stopping.abort();
      wake();
      await running;
    },
  };
}
