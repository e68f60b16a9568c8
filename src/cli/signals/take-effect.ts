/**
 * A signal is a row that the drive reads a moment later. Its effect is waited for, so that the answer is not the state
 * from before the signal, and a script that says `wait` next does not find that state either.
 */
import { sleep } from "../../host/clock.ts";

const LOOK_EVERY_MS = 100;
const LOOKS_MAX = 50;

export interface Signalled<T> {
  readonly now: T;
  /** False: the server has stored the signal and not applied it within the wait. */
  readonly isApplied: boolean;
}

export async function takeEffect<T>(
  answered: T,
  isApplied: (now: T) => boolean,
  reread: () => Promise<T>,
): Promise<Signalled<T>> {
  let now = answered;
  for (let look = 0; !isApplied(now) && look < LOOKS_MAX; look++) {
    await sleep(LOOK_EVERY_MS);
    now = await reread();
  }
  return { now, isApplied: isApplied(now) };
}

/** The answer to a signal: the rollout's state with the signal applied, or that it is not applied yet. */
export const effectText = (state: string, isApplied: boolean): string =>
  isApplied ? `is noted; it is ${state}` : `is noted and not applied yet; it is still ${state}`;
