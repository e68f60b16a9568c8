/** Many seeds in turn, and what became of them. The first that breaks a rule ends it, and says how to see it again. */
import { simulate, type Parts } from "./simulate.ts";

export interface Seeds {
  readonly seed: number;
  readonly runs: number;
}

const replayCommand = (seed: number): string => `npm run simulate -- --seed ${seed} --runs 1`;

export function playSeeds({ seed: first, runs }: Seeds, parts: Parts = {}) {
  /** By kind and status. */
  const ends = new Map<string, number>();
  const nodeEnds = new Set<string>();
  for (let seed = first; seed < first + runs; seed++) {
    const { kind, status, rollouts } = played(seed, parts);
    const end = `${kind} ${status}`;
    ends.set(end, (ends.get(end) ?? 0) + 1);
    for (const table of rollouts) for (const each of table.statuses()) nodeEnds.add(each);
  }
  return { ends, nodeEnds };
}

function played(seed: number, parts: Parts) {
  try {
    return simulate(seed, parts);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${what}\nreplay it: ${replayCommand(seed)}`, { cause: error });
  }
}
