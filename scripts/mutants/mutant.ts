/** One change to a guarded line, and the test that must fail with it. */
export const LAYERS = ["core", "trust", "agent", "server", "sql", "cli"] as const;
export type Layer = (typeof LAYERS)[number];

export interface Mutant {
  readonly id: string;
  readonly layer: Layer;
  /** From the root of the repository. */
  readonly file: string;
  /** Found in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The fault that the change makes. */
  readonly change: string;
  readonly project: "unit" | "contract" | "integration";
  readonly test: string;
  /** Only the tests whose titles contain this pattern run: for files that take long. */
  readonly title?: string;
  /** The reason why the change means the same as the line. */
  readonly survives?: string;
}

type Entry = Omit<Mutant, "layer">;

export const ofLayer = (layer: Layer, entries: readonly Entry[]): Mutant[] =>
  entries.map((entry) => ({ ...entry, layer }));
