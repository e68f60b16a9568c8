/** Where the bundled programs of the tests are, for a test and for one of them (build.ts). */
import { join } from "node:path";

const folder = import.meta.filename.endsWith(".ts")
  ? join(import.meta.dirname, "../../../.cache/test-programs")
  : import.meta.dirname;

export const SHIM = join(folder, "shim.mjs");
export const UPGRADE_CHILD = join(folder, "upgrade-child.mjs");
