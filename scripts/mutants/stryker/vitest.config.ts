// The tests that Stryker runs for each mutant: those of the layer, as the unit project of `vitest.config.ts` runs them.

import { tmpdir } from "node:os";
import { defineConfig } from "vitest/config";
import { NearFirst } from "./near-first.ts";
import { TESTS_VARIABLE } from "./layers.ts";

process.env["TMPDIR"] ??= tmpdir();

export default defineConfig({
  test: {
    include: JSON.parse(process.env[TESTS_VARIABLE] ?? "[]") as string[],
    pool: "threads",
    isolate: false,
    sequence: { sequencer: NearFirst },
    testTimeout: 60_000,
  },
});
