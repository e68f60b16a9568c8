// A test that asserts nothing, or does not run, looks just like one that passes.

import { dirname, join } from "node:path/posix";
import { expect, test } from "vitest";
import { occurrences, sourcesLike, withoutComments } from "./repository.ts";
import type { SourceFile } from "./repository.ts";

const SWITCHED_OFF = /\.(?:skip|only|todo|skipIf|runIf|fails)\b(?=\s*[(.])/g;
const ASSERTION = /\bexpect\s*[(.]|\bassert\w*\s*[(.]/;

/** Switched off where the history is cut off; CI fails on every skip. */
const NEEDS_HISTORY = "test/integration/compat/earlier-agent-and-server.test.ts";

/** A contract's test file only names its adapter: the suite that it imports may hold the assertions. */
function assertsNothing(file: SourceFile, others: readonly SourceFile[]): boolean {
  const code = withoutComments(file.text);
  const imported = [...code.matchAll(/from "(\.[^"]+)"/g)].map(([, path = ""]) =>
    join(dirname(file.path), path),
  );
  const suites = others
    .filter(({ path }) => imported.includes(path))
    .map(({ text }) => withoutComments(text));
  return ![code, ...suites].some((text) => ASSERTION.test(text));
}

function problemsOf(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.endsWith(".test.ts"))
    .flatMap((file) => [
      ...(assertsNothing(file, files) ? [`${file.path}: no expect`] : []),
      ...occurrences({ path: file.path, text: withoutStrings(withoutComments(file.text)) }, SWITCHED_OFF),
    ]);
}

const withoutStrings = (text: string): string => text.replaceAll(/"(?:\\.|[^"\\\n])*"/g, '""');

test("every test file asserts something, and none of its tests is switched off", () => {
  const files = sourcesLike("test/**/*.ts");
  expect(files.some(({ path }) => path.endsWith(".test.ts"))).toBe(true);
  const problems = problemsOf(files);
  expect(problems.filter((problem) => !problem.startsWith(NEEDS_HISTORY))).toEqual([]);
  expect(problems).toEqual([expect.stringMatching(/: \.skipIf$/)]);
});

test("a test without an assertion and a test that is switched off are found", () => {
  const files = [
    { path: "test/a/good.test.ts", text: "test('x', () => { expect(1).toBe(1); });" },
    { path: "test/a/contract.test.ts", text: 'import { suite } from "../suite.ts";\nsuite(adapter);' },
    { path: "test/suite.ts", text: "export const suite = () => expect(1).toBe(1);" },
    { path: "test/a/empty.test.ts", text: "test('x', () => {}); // expect(1)" },
    { path: "test/a/off.test.ts", text: "expect(1);\ntest.skip('x', f);\ntest.only.each([])('y', f);" },
  ];
  expect(problemsOf(files)).toEqual([
    "test/a/empty.test.ts: no expect",
    "test/a/off.test.ts:2: .skip",
    "test/a/off.test.ts:3: .only",
  ]);
});
