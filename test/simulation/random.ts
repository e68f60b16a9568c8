/** Chance from a seed: the same everywhere, and the same again. */
export type Random = ReturnType<typeof randomOf>;

/** mulberry32 */
export function randomOf(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (p: number) => next() < p,
    pick: <T>(from: readonly T[]): T => from[below(from.length)]!,
  };
}
