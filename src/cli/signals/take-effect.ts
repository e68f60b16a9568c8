/**
 * A signal is a row that the drive reads a moment later. Where it changes the state at once, that moment is waited for,
 * so that a script that says `wait` next does not find the state from before its own signal.
 */
import { sleep } from "../../host/clock.ts";

const LOOK_EVERY_MS = 100;
const LOOKS_MAX = 20;

interface Standing {
  readonly status: string;
}

/** `next` is what the table of states says; a running one changes at its own time, so it is not waited for. */
export async function takeEffect<T extends Standing>(
  before: Standing,
  answered: T,
  next: string | undefined,
  reread: () => Promise<T>,
): Promise<T> {
  if (next === undefined || next === before.status || before.status === "running") return answered;
  let now = answered;
  for (let look = 0; now.status === before.status && look < LOOKS_MAX; look++) {
    await sleep(LOOK_EVERY_MS);
    now = await reread();
  }
  return now;
}
