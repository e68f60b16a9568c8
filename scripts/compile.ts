// The sources as JavaScript in lib/, beside the folders that they look for: Node strips no types below node_modules.

import { cpSync, rmSync } from "node:fs";
import { buildIfStale } from "./build.mjs";
import { demand } from "./package/demand.ts";
import { inRoot } from "./root.mjs";

const TSC = "node_modules/@typescript/native/bin/tsc";
const MIGRATIONS = "server/db/migrations";

export const compileSources = (): Promise<void> =>
  buildIfStale({
    name: "modules",
    entry: "src/cli/main.ts",
    inputs: ["src", "tsconfig.compile.json", "tsconfig.base.json", "scripts/compile.ts", "package-lock.json"],
    output: "lib/cli/main.js",
    make: async () => {
      rmSync(inRoot("lib"), { recursive: true, force: true });
      demand(process.execPath, [inRoot(TSC), "-p", inRoot("tsconfig.compile.json")]);
      cpSync(inRoot(`src/${MIGRATIONS}`), inRoot(`lib/${MIGRATIONS}`), { recursive: true });
    },
  });

if (import.meta.main) await compileSources();
