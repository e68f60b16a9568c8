/**
 * How long a rollout will still take, from the pace of its finished batches. No clock: now is an argument.
 *
 * 1. A pause is no part of a batch: a batch ends where the next one begins, or where the rollout stops.
 * 2. Where nothing comparable has finished, the answer is null and not a guess. A canary is observed longer
 *    than the other batches, so it says nothing about them.
 */
import type { RolloutStatus } from "./states.ts";

export type PaceMark =
  | { readonly kind: "batch"; readonly at: number; readonly batch: number }
  | { readonly kind: "status"; readonly at: number; readonly to: RolloutStatus };

export interface Pace {
  readonly open: { readonly batch: number; readonly at: number } | null;
  readonly finished: readonly { readonly batch: number; readonly ms: number }[];
}

export const NO_PACE: Pace = { open: null, finished: [] };

export function paceAfter(pace: Pace, mark: PaceMark): Pace {
  if (mark.kind === "batch") return { ...closed(pace, mark.at), open: { batch: mark.batch, at: mark.at } };
  if (mark.to === "rolling_back") return NO_PACE; // the way back has a pace of its own
  return mark.to === "running" ? pace : { ...closed(pace, mark.at), open: null }; // 1
}

function closed({ open, finished }: Pace, at: number): Pace {
  return open === null
    ? { open, finished }
    : { open, finished: [...finished, { batch: open.batch, ms: at - open.at }] };
}

interface Position {
  readonly status: RolloutStatus;
  readonly strategy: string;
  readonly batch_count: number;
}

export function timeLeftMs(
  pace: Pace,
  { status, strategy, batch_count }: Position,
  now: number,
): number | null {
  if (pace.open === null || (status !== "running" && status !== "rolling_back")) return null;
  const spans = pace.finished.filter(({ batch }) => strategy !== "canary" || batch > 0).map(({ ms }) => ms); // 2
  if (spans.length === 0) return null;
  const mean = spans.reduce((sum, ms) => sum + ms, 0) / spans.length;
  const after = status === "running" ? batch_count - 1 - pace.open.batch : pace.open.batch;
  return Math.max(0, mean - (now - pace.open.at)) + after * mean;
}
