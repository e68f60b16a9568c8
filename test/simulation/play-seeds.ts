/** Many seeds in turn, and what became of them. The first that breaks a rule ends it, and says how to see it again. */
import { playMonth, type Deed } from "./month.ts";
import { simulate, type Parts, type Played } from "./simulate.ts";

export interface Seeds {
  readonly seed: number;
  readonly runs: number;
}

export function playSeeds(seeds: Seeds, parts: Parts = {}) {
  return playAll(seeds, (seed) => simulate(seed, parts), "");
}

export function playMonths(seeds: Seeds) {
  const deeds = new Map<Deed, number>();
  function play(seed: number): Played {
    const month = playMonth(seed);
    for (const [deed, times] of month.deeds) count(deeds, deed, times);
    return month;
  }
  return { ...playAll(seeds, play, "--month "), deeds };
}

function playAll({ seed: first, runs }: Seeds, play: (seed: number) => Played, option: string) {
  /** By kind and status. */
  const ends = new Map<string, number>();
  /** The same, of what the last operator found waiting. */
  const found = new Map<string, number>();
  const nodeEnds = new Set<string>();
  for (let seed = first; seed < first + runs; seed++) {
    const played = replayable(seed, play, option);
    for (const end of played.ends) count(ends, end);
    if (played.found !== null) count(found, `${played.kind} ${played.found}`);
    for (const table of played.rollouts) for (const each of table.statuses()) nodeEnds.add(each);
  }
  return { ends, found, nodeEnds };
}

const count = <Key>(counts: Map<Key, number>, key: Key, times = 1): void =>
  void counts.set(key, (counts.get(key) ?? 0) + times);

function replayable(seed: number, play: (seed: number) => Played, option: string): Played {
  try {
    return play(seed);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    const command = `npm run simulate -- ${option}--seed ${seed} --runs 1`;
    throw new Error(`seed ${seed}: ${what}\nreplay it: ${command}`, { cause: error });
  }
}
