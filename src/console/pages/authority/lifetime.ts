/** Where now lies between issue and expiry, as a share and as words: the bar alone is not for everyone. */
import { untilText } from "../../ui/time-text.ts";
import type { Tone } from "../../ui/tones.ts";

export interface Span {
  readonly issued_at: string;
  readonly refresh_after: string;
  readonly expires_at: string;
}

export interface Lifetime {
  /** From 0, just issued, to 1, expired. */
  readonly spent: number;
  /** Where a newer one is due. */
  readonly refresh: number;
  readonly tone: Tone;
  readonly text: string;
}

export function lifetimeOf({ issued_at, refresh_after, expires_at }: Span, now: number): Lifetime {
  const [issued, due, end] = [issued_at, refresh_after, expires_at].map((at) => Date.parse(at)) as [
    number,
    number,
    number,
  ];
  const share = (at: number) =>
    end <= issued ? 1 : Math.min(1, Math.max(0, (at - issued) / (end - issued)));
  const left = untilText(expires_at, now);
  if (left === null) return { spent: 1, refresh: share(due), tone: "bad", text: "expired" };
  const isDue = due <= now;
  return {
    spent: share(now),
    refresh: share(due),
    tone: isDue ? "warn" : "good",
    text: `${left} left${isDue ? ", renewal is due" : ""}`,
  };
}
