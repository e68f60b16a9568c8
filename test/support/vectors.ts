/** Public test vectors lie beside the repository and are no part of it: a clone without them has none. */
import { existsSync, readFileSync } from "node:fs";
import { inRoot } from "../../scripts/root.mjs";

export function readVector(path: string): Buffer | undefined {
  const file = inRoot(`../shared/vectors/${path}`);
  return existsSync(file) ? readFileSync(file) : undefined;
}
