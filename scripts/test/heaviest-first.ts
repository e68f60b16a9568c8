// The order of test files. A fresh clone knows of no earlier run, and vitest would then begin with the longest texts:
// but a file of twenty lines may start a whole site, and one that begins last is waited for alone.

import { relative } from "node:path";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";
import { inRoot } from "../root.mjs";

/** The longest first. What is not named here is over in less than half a minute. */
export const HEAVY_FILES = [
  "test/integration/replicas/one-site.test.ts",
  "test/integration/e2e/one-site.test.ts",
  "test/integration/e2e/steering.test.ts",
  "test/integration/hosts/soak.test.ts",
  "test/integration/packages/same-bytes.test.ts",
  "test/integration/packages/debian.test.ts",
  "test/integration/packages/arm64.test.ts",
  "test/integration/hosts/lab-run.test.ts",
  "test/integration/hosts/two-programs.test.ts",
  "test/integration/cli/rollout.test.ts",
  "test/integration/agent-upgrade/kill-systemd.test.ts",
  "test/integration/demo/interrupted.test.ts",
  "test/integration/agent-systemd/power-cut.test.ts",
  "test/integration/e2e/clocks.test.ts",
  "test/integration/e2e/stolen-control-plane.test.ts",
  "test/integration/demo/demo.test.ts",
  "test/integration/e2e/agent-killed.test.ts",
  "test/integration/agent-upgrade/kill-docker.test.ts",
  "test/integration/replicas/restored-site.test.ts",
  "test/integration/agent-upgrade/kill.test.ts",
  "test/integration/e2e/suspended-agent.test.ts",
  "test/integration/e2e/engines-killed.test.ts",
  "test/integration/agent-upgrade/every-step.test.ts",
  "test/integration/hosts/upgrade.test.ts",
  "test/integration/replicas/backup-file.test.ts",
  "test/integration/agent-systemd/faults.test.ts",
  "test/integration/keys/restored-database.test.ts",
  "test/integration/docs/readme-tour.test.ts",
  "test/integration/docs/by-hand.test.ts",
] as const;

export class HeaviestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files); // oxlint-disable-line unicorn/no-array-sort -- its own, which sorts a copy
    return others.toSorted((one, other) => weightOf(other) - weightOf(one));
  }
}

/** 0 for most. */
function weightOf({ moduleId }: TestSpecification): number {
  const at = HEAVY_FILES.findIndex((file) => file === relative(inRoot("."), moduleId));
  return at === -1 ? 0 : HEAVY_FILES.length - at;
}
