/** The files that Stryker changes, by layer, and the test files that may notice. */
import { globSync } from "node:fs";
import { inRoot } from "../../root.mjs";

/** Tells `vitest.config.ts`, which Stryker loads in a process of its own, the tests of the layer. */
export const TESTS_VARIABLE = "FAIRLEAD_MUTANTS_TESTS";

interface StrykerLayer {
  readonly layer: "core" | "trust" | "agent";
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

const filesOf = (pattern: string): string[] => globSync(pattern, { cwd: inRoot(".") }).toSorted();

export const STRYKER_LAYERS: readonly StrykerLayer[] = [
  { layer: "trust", files: filesOf("src/trust/**/*.ts"), tests: ["test/unit/trust/**/*.test.ts"] },
];
