// The closing line of `npm test` must not look clean when something did not run.

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { inRoot } from "../../scripts/root.mjs";
import { HEAVY_FILES } from "../../scripts/test/heaviest-first.ts";
import { exitCodeFor } from "../../scripts/test/report.ts";
import { countsOf } from "../../scripts/test/tools.ts";
import { HIDDEN_VECTORS, VECTORS_VARIABLE, vectorFiles } from "../../scripts/test/vector-files.ts";
import { readVector } from "../support/vectors.ts";
import { sourcesLike } from "./repository.ts";

const reportOf = (passed: number, failed: number, pending: number) =>
  JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: pending,
    numTodoTests: 0,
  });

test("a clean report is counted as it is", () => {
  expect(countsOf(reportOf(3, 0, 1), 0)).toEqual({ passed: 3, failed: 0, skipped: 1 });
});

test("a run that failed without a failed test counts as one failure", () => {
  expect(countsOf(reportOf(3, 0, 0), 1)).toMatchObject({ passed: 3, failed: 1 });
  expect(countsOf(reportOf(3, 0, 0), null)).toMatchObject({ passed: 3, failed: 1 });
});

test("no tests and no report count as one failure each", () => {
  expect(countsOf(reportOf(0, 0, 0), 0)).toMatchObject({ failed: 1, note: "no tests found" });
  expect(countsOf(undefined, 1)).toMatchObject({ failed: 1, note: "vitest left no report" });
});

test("a skipped test fails the run under CI and nowhere else", () => {
  const total = { passed: 1, failed: 0, skipped: 1 };
  expect(exitCodeFor(total, true)).toBe(1);
  expect(exitCodeFor(total, false)).toBe(0);
  expect(exitCodeFor({ ...total, failed: 1 }, false)).toBe(1);
  expect(exitCodeFor({ passed: 0, failed: 0, skipped: 0 }, false)).toBe(1);
});

test("each failed test is told with its file and its reason, and so is a file that does not load", () => {
  const failed = { fullName: "a > b", status: "failed", failureMessages: ["Error: 1 is not 2"] };
  const passed = { fullName: "c", status: "passed", failureMessages: [] };
  const text = JSON.stringify({
    ...(JSON.parse(reportOf(1, 1, 0)) as object),
    testResults: [
      { name: "/x/one.test.ts", message: "", assertionResults: [failed, passed] },
      { name: "/x/two.test.ts", message: "SyntaxError", assertionResults: [] },
    ],
  });
  const { failures = [] } = countsOf(text, 1);
  expect(failures).toHaveLength(2);
  expect(failures[0]).toMatch(/one\.test\.ts > a > b\nError: 1 is not 2$/);
  expect(failures[1]).toMatch(/two\.test\.ts > \(the file itself\)\nSyntaxError$/);
});

test("the files that are begun first are there", () => {
  expect(HEAVY_FILES.filter((file) => !existsSync(inRoot(file)))).toEqual([]);
});

test("the files that read public vectors are found by their imports, and no other file reaches for them", () => {
  expect(vectorFiles()).toContain("test/unit/server-auth/wycheproof-jws.test.ts");
  const readers = sourcesLike("{src,test,scripts,bench}/**/*.{ts,mjs}")
    .filter(({ path }) => path !== "test/support/vectors.ts" && path !== "test/tidy/test-runner.test.ts")
    .filter(({ text }) => text.includes("shared/vectors"));
  expect(readers.map(({ path }) => path)).toEqual([]);
});

test("hidden vectors are read by no test, where they lie beside the clone too", () => {
  const before = process.env[VECTORS_VARIABLE];
  process.env[VECTORS_VARIABLE] = HIDDEN_VECTORS;
  try {
    expect(readVector("json-patch/tests.json")).toBeUndefined();
  } finally {
    if (before === undefined) delete process.env[VECTORS_VARIABLE];
    else process.env[VECTORS_VARIABLE] = before;
  }
});
