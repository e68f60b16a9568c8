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
  /** The same, of what the last operator found waiting. */
  const found = new Map<string, number>();
  const nodeEnds = new Set<string>();
  for (let seed = first; seed < first + runs; seed++) {
    const { kind, status, found: waited, rollouts } = played(seed, parts);
    count(ends, `${kind} ${status}`);
    if (waited !== null) count(found, `${kind} ${waited}`);
    for (const table of rollouts) for (const each of table.statuses()) nodeEnds.add(each);
  }
  return { ends, found, nodeEnds };
}

const count = (counts: Map<string, number>, what: string): void =>
  void counts.set(what, (counts.get(what) ?? 0) + 1);

function played(seed: number, parts: Parts) {
  try {
    return simulate(seed, parts);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${what}\nreplay it: ${replayCommand(seed)}`, { cause: error });
  }
}
