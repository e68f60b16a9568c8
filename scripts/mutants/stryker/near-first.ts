// Stryker stops at the first failure of a mutant, so the nearest test file runs first.

import { relative } from "node:path";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";
import { subjectInEnvironment } from "./subject.ts";

export class NearFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { tests } = subjectInEnvironment();
    const rank = ({ moduleId }: TestSpecification) => tests.indexOf(relative(process.cwd(), moduleId));
    return Promise.resolve(files.toSorted((one, other) => rank(one) - rank(other)));
  }
}
