/** Times as people say them. Now is an argument: a clock that runs behind the server's never shows a negative age. */
const UNITS = [
  { ms: 86_400_000, name: "d" },
  { ms: 3_600_000, name: "h" },
  { ms: 60_000, name: "min" },
  { ms: 1_000, name: "s" },
] as const;

/** `42 s`, `3 min 20 s`, `2 h 5 min`, `4 d 1 h`: the two largest units, and from an hour on no seconds. */
export function durationText(ms: number): string {
  if (ms < 1_000) return "0 s";
  const first = UNITS.findIndex((unit) => ms >= unit.ms);
  return UNITS.slice(first, first + 2)
    .map(({ ms: unitMs, name }, index) => {
      const count = Math.floor((index === 0 ? ms : ms % UNITS[first]!.ms) / unitMs);
      return index > 0 && count === 0 ? "" : `${count} ${name}`;
    })
    .filter((text) => text !== "")
    .join(" ");
}

/** One unit, so that a column of ages stays narrow: `12 s ago`. */
export function ageText(at: string | null, now: number): string {
  if (at === null) return "never";
  const ms = now - Date.parse(at);
  if (ms < 1_000) return "just now";
  const unit = UNITS.find((candidate) => ms >= candidate.ms)!;
  return `${Math.floor(ms / unit.ms)} ${unit.name} ago`;
}

/** What is left until then; null when it has passed. */
export function untilText(at: string, now: number): string | null {
  const ms = Date.parse(at) - now;
  return ms <= 0 ? null : durationText(Math.ceil(ms / 1_000) * 1_000);
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { year: "numeric", month: "short", day: "numeric" });

export const clockText = (at: string): string => CLOCK.format(Date.parse(at));
export const dateTimeText = (at: string): string => `${DAY.format(Date.parse(at))}, ${clockText(at)}`;
