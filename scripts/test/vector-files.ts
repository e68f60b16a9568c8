// Test files that read public vectors: they run once without the vectors and once with them.

import { globSync, readFileSync } from "node:fs";
import { inRoot } from "../root.mjs";

export const VECTORS_VARIABLE = "FAIRLEAD_TEST_VECTORS";
export const HIDDEN_VECTORS = "none";

/** Derived from the imports, so that a new reader of vectors needs no entry in a list. */
export const vectorFiles = (): string[] =>
  globSync("test/unit/**/*.test.ts", { cwd: inRoot(".") })
    .filter((file) => /from "[./]+support\/vectors\.ts"/.test(readFileSync(inRoot(file), "utf8")))
    .toSorted();
