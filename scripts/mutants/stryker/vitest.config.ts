// The tests that Stryker runs for each mutant, as the unit project of `vitest.config.ts` runs them.

import { defineConfig } from "vitest/config";
import { NearFirst } from "./near-first.ts";
import { subjectInEnvironment } from "./subject.ts";

export default defineConfig({
  test: {
    include: [...subjectInEnvironment().tests],
    pool: "threads",
    isolate: false,
    sequence: { sequencer: NearFirst },
    testTimeout: 60_000,
  },
});
