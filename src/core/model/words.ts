/** Small words for people: spans of time, lists that end, identifiers that can be told apart. */
const SPANS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
  [1, "ms"],
] as const;
const SHOWN_MAX = 8;

/** `4 h`, `1 h 30 min`, `90 s` → `1 min 30 s`: the two largest units. */
export function spanText(ms: number): string {
  const first = SPANS.findIndex(([unit]) => ms >= unit);
  if (first === -1) return "no time";
  const [unit, name] = SPANS[first]!;
  const rest = SPANS[first + 1];
  const left = rest === undefined ? 0 : Math.floor((ms % unit) / rest[0]);
  return `${Math.floor(ms / unit)} ${name}${left === 0 ? "" : ` ${left} ${rest![1]}`}`;
}

export const list = (items: readonly string[]): string => (items.length === 0 ? "none" : items.join(", "));

/** The first few, and how many more there are. */
export const few = (items: readonly string[], what: string): string[] =>
  items.length <= SHOWN_MAX
    ? [...items]
    : [...items.slice(0, SHOWN_MAX), `and ${items.length - SHOWN_MAX} more of the kind ${what}`];

export const count = (amount: number, one: string, many: string): string =>
  `${amount === 0 ? "no" : amount} ${amount === 1 ? one : many}`;

export const short = (id: string): string => id.slice(0, 8);
export const shortDigest = (digest: string): string => digest.replace(/^(sha256:.{12}).*$/, "$1…");
