/**
 * Public test vectors lie beside the repository and are no part of it. They add cases and are never needed.
 * `FAIRLEAD_TEST_VECTORS=none` hides them: the unit stage runs that way, so that every file passes without them.
 */
import { existsSync, readFileSync } from "node:fs";
import { inRoot } from "../../scripts/root.mjs";
import { HIDDEN_VECTORS, VECTORS_VARIABLE } from "../../scripts/test/vector-files.ts";

export function readVector(path: string): Buffer | undefined {
  if (process.env[VECTORS_VARIABLE] === HIDDEN_VECTORS) return undefined;
  const file = inRoot(`../shared/vectors/${path}`);
  return existsSync(file) ? readFileSync(file) : undefined;
}
