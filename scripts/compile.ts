// The sources as JavaScript in lib/, beside the folders that they look for: Node strips no types below node_modules.

import { cpSync, rmSync } from "node:fs";
import { demand } from "./package/demand.ts";
import { inRoot } from "./root.mjs";

export function compileSources(): void {
  rmSync(inRoot("lib"), { recursive: true, force: true });
  demand(process.execPath, [
    inRoot("node_modules/@typescript/native/bin/tsc"),
    "-p",
    inRoot("tsconfig.compile.json"),
  ]);
  cpSync(inRoot("src/server/db/migrations"), inRoot("lib/server/db/migrations"), { recursive: true });
}

if (import.meta.main) compileSources();
