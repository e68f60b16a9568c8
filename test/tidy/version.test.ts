// Executables have no package.json beside them: the version stands in the code, too.

import { expect, test } from "vitest";
import { FAIRLEAD_VERSION } from "../../src/core/version.ts";
import { readSource } from "./repository.ts";

test("the version of the code is the one of package.json", () => {
  const { version } = JSON.parse(readSource("package.json").text) as { version: string };
  expect(FAIRLEAD_VERSION).toBe(version);
});
