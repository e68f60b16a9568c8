// The order of test files for one mutant. Stryker stops at the first failure, so the test file that is named like the
// changed file runs first, and files of properties and many cases, which take seconds, run last.

import { basename } from "node:path";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

/** Longer than a second; the longest last. */
const SLOW = ["config-secrets", "increments-in-any-order", "tampering", "json-patch"];

export class NearFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const near = new Set((this.ctx.config.related ?? []).map(subjectOf)); // set by Stryker's runner for each mutant
    const rank = ({ moduleId }: TestSpecification) => {
      const subject = subjectOf(moduleId);
      return near.has(subject) ? -1 : SLOW.indexOf(subject) + 1;
    };
    return files.toSorted((one, other) => rank(one) - rank(other));
  }
}

const subjectOf = (path: string): string => basename(path).replace(/(?:\.test)?\.ts$/u, "");
