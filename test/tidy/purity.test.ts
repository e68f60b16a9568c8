// Decisions get the time and their randomness as arguments, or they could not be replayed.
// Lint refuses Date.now and Math.random by name; it lets `new Date()` through, and aliases.

import { expect, test } from "vitest";
import { occurrences, sourcesLike, withoutComments } from "./repository.ts";
import type { SourceFile } from "./repository.ts";

const IMPURE =
  /\bnew Date(?:\(\s*\)|(?!\w|\())|(?<!new |\.)\bDate\(|\bDate\.now\b|\bMath\.random\b|\bperformance\.now\b/g;

const impure = (files: readonly SourceFile[]): string[] =>
  files.flatMap(({ path, text }) => occurrences({ path, text: withoutComments(text) }, IMPURE));

test("core and the code that drives decisions read no clock and roll no dice", () => {
  const files = sourcesLike("src/{core,render}/**/*.ts", "src/server/{drive,group,rollout}/**/*.ts");
  expect(files.length).toBeGreaterThan(0);
  expect(impure(files)).toEqual([]);
});

test("a clock or a dice is found, while a date made from an argument is not", () => {
  const text = [
    "const a = new Date(now); // not new Date()",
    "const b = new Date( );",
    "const c = new Date;",
    "const d = Date.now();",
    "const e = Math.random;",
    "const f = Date();",
    "const g: Date = parseDate(text);",
  ].join("\n");
  expect(impure([{ path: "bad.ts", text }])).toEqual([
    "bad.ts:2: new Date( )",
    "bad.ts:3: new Date",
    "bad.ts:4: Date.now",
    "bad.ts:5: Math.random",
    "bad.ts:6: Date(",
  ]);
});
