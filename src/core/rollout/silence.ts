/**
 * Silence of a node at work (ROLL-30). It is shown after three missed heartbeats and ends the node's upgrade after
 * `node_silence_max`; before that an operator may give it up.
 *
 * 1. An absence of the control plane is no silence of a node: what could not be heard does not count.
 * 2. A node that was silent before its launch is not waited for as long as one that fell silent at work: it gets the time
 *    to show itself, and no more.
 * 3. An installed node is judged by its health wait: its silence is shown, and does not end it. It beats every 30 seconds
 *    like any node outside an upgrade, and three missed beats of those are 90 seconds.
 */
import { LIMITS } from "../limits.ts";
import type { UpgradePhase } from "../upgrade/phases.ts";
import { afterReconnect } from "./wake.ts";

/** The actor of a signal that no person gave. */
export const DRIVE_ACTOR = "fairlead";

export interface Listened {
  readonly heardAt: number | null;
  readonly launchedAt: number | null;
  readonly phase: UpgradePhase | null;
}

export interface Listening {
  readonly now: number;
  readonly availableSince: number;
  readonly silenceMaxMs: number;
}

export type Silence =
  | { readonly kind: "heard" }
  /** `isOver`: it has lasted for `node_silence_max`. */
  | { readonly kind: "silent"; readonly since: number; readonly isOver: boolean };

export function silenceOf({ heardAt, launchedAt, phase }: Listened, listening: Listening): Silence {
  const { now, availableSince, silenceMaxMs } = listening;
  const since = Math.max(heardAt ?? launchedAt ?? now, availableSince); // (1)
  const isInstalled = phase === "VERIFYING";
  const silentAfter = isInstalled ? LIMITS.heartbeatLateMs : silentAfterMs(silenceMaxMs);
  const shownAt = Math.max(since, launchedAt ?? now) + silentAfter; // (2)
  if (now < shownAt) return { kind: "heard" };
  const isOver = !isInstalled && now >= afterReconnect(since + silenceMaxMs, availableSince); // (3)
  return { kind: "silent", since, isOver };
}

/** Never shown later than it ends the node's upgrade. */
const silentAfterMs = (silenceMaxMs: number): number => Math.min(LIMITS.nodeSilentMs, silenceMaxMs);
