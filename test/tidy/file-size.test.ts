// A file that outgrew its subject hides a second one.

import { expect, test } from "vitest";
import { sourcesLike } from "./repository.ts";
import type { SourceFile } from "./repository.ts";

const linesMax = 400;

const tooLong = (files: readonly SourceFile[]): string[] =>
  files
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > linesMax)
    .map(({ path, lines }) => `${path}: ${lines} lines`);

test(`no source file is longer than ${linesMax} lines`, () => {
  const files = sourcesLike("src/**/*.{ts,tsx,css}").filter(({ path }) => !path.includes(".generated."));
  expect(files.length).toBeGreaterThan(0);
  expect(tooLong(files)).toEqual([]);
});

test("a longer file is reported with its length", () => {
  const lines = (count: number) => "x\n".repeat(count);
  const files = [
    { path: "fits.ts", text: lines(linesMax) },
    { path: "long.ts", text: lines(linesMax + 1) },
  ];
  expect(tooLong(files)).toEqual([`long.ts: ${linesMax + 1} lines`]);
});
