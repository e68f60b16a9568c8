/** The files that Stryker changes, by layer, and the test files that may notice. */
import { globSync } from "node:fs";
import { inRoot } from "../../root.mjs";

interface StrykerLayer {
  readonly layer: "core" | "trust" | "agent";
  readonly files: readonly string[];
  /** Patterns. */
  readonly tests: readonly string[];
}

const filesOf = (pattern: string): string[] => globSync(pattern, { cwd: inRoot(".") }).toSorted();

export const STRYKER_LAYERS: readonly StrykerLayer[] = [
  { layer: "trust", files: filesOf("src/trust/**/*.ts"), tests: ["test/unit/trust/**/*.test.ts"] },
];
