// The programs that tests start hundreds of times, each as one bundle: loading their modules one by one is most of
// what a start costs.

import { isBuiltin } from "node:module";
import { rolldown } from "rolldown";
import { inRoot } from "../../../scripts/root.mjs";

const PROGRAMS = ["shim", "upgrade-child"];

export async function setup(): Promise<void> {
  const bundle = await rolldown({
    cwd: inRoot("."),
    input: Object.fromEntries(PROGRAMS.map((name) => [name, `test/support/programs/${name}.ts`])),
    platform: "node",
    external: (id) => isBuiltin(id),
  });
  await bundle.write({
    dir: inRoot(".cache/test-programs"),
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name].mjs",
  });
  await bundle.close();
}
