// The order of test files for one mutant. Stryker stops at the first failure, so the test file that is named like the
// changed file runs first, and files that take seconds run last.

import { basename } from "node:path";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";
import { subjectInEnvironment } from "./subject.ts";

/** Longer than a second; the longest last. */
const SLOW = ["config-secrets", "increments-in-any-order", "tampering", "json-patch"];

export class NearFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const near = nameOf(subjectInEnvironment().file);
    const rank = ({ moduleId }: TestSpecification) => {
      const name = nameOf(moduleId);
      return name === near ? -1 : SLOW.indexOf(name) + 1;
    };
    return Promise.resolve(files.toSorted((one, other) => rank(one) - rank(other)));
  }
}

const nameOf = (path: string): string => basename(path).replace(/(?:\.test)?\.ts$/u, "");
