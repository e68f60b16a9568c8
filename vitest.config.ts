import { defineConfig } from "vitest/config";
import { HeaviestFirst } from "./scripts/test/heaviest-first.ts";
import { STAGE_FOLDER_VARIABLE } from "./scripts/test/stage-folder.ts";
import { temporaryFolder } from "./scripts/test/temporary-folder.ts";

// For `tmpdir()` here, in what is set up once, and in every test. `npm test` gives each stage a folder of its own.
process.env["TMPDIR"] = process.env[STAGE_FOLDER_VARIABLE] ?? temporaryFolder();

// Tests that start real parts run in processes of their own, and no more of them than a small machine bears. A process
// runs one file after the other: loading the server's thousand modules again for each would be a tenth of all the work.
const realParts = {
  pool: "forks",
  isolate: false,
  maxWorkers: 2,
  testTimeout: 120_000,
  hookTimeout: 120_000,
} as const;

/** Hundreds of agents at once: beside other tests they would measure the machine, not the product. */
const CROWDS = ["test/integration/keys/rotation-under-load.test.ts"];

export default defineConfig({
  test: {
    reporters: ["default"],
    sequence: { sequencer: HeaviestFirst },
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts", "test/tidy/**/*.test.ts"],
          pool: "threads",
          isolate: false,
          maxWorkers: 2, // on two cores, vitest would leave one to itself
          testTimeout: 60_000, // a hang, not slowness: a machine may have other work
        },
      },
      {
        test: {
          ...realParts,
          name: "contract",
          include: ["test/contract/**/*.test.ts"],
          globalSetup: "test/support/programs/build.ts",
        },
      },
      {
        test: {
          ...realParts,
          name: "integration",
          maxWorkers: 3, // they wait more than they work
          include: ["test/integration/**/*.test.ts"],
          exclude: CROWDS,
          globalSetup: ["test/support/database-server.ts", "test/support/programs/build.ts"],
        },
      },
      { test: { ...realParts, name: "crowd", include: CROWDS, maxWorkers: 1 } },
      { test: { ...realParts, name: "browser", include: ["test/browser/**/*.test.ts"], maxWorkers: 1 } },
    ],
  },
});
