/** The test files that import a file, directly or not: the others cannot notice a change to it. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inRoot } from "../../root.mjs";

const IMPORTED = /(?:from|import|import\()\s*"(?<path>\.[^"]+\.tsx?)"/gu;

export function relatedTests(file: string, patterns: readonly string[]): string[] {
  const known = new Map<string, readonly string[]>();
  const importsOf = (path: string): readonly string[] => {
    const imports = known.get(path) ?? readImports(path);
    known.set(path, imports);
    return imports;
  };
  const tests = patterns.flatMap((pattern) => globSync(pattern, { cwd: inRoot(".") })).toSorted();
  return tests.filter((test) => reaches(test, file, importsOf));
}

function reaches(start: string, goal: string, importsOf: (path: string) => readonly string[]): boolean {
  const seen = new Set([start]);
  for (const path of seen) for (const next of importsOf(path)) seen.add(next); // a set may grow while it is read
  return seen.has(goal);
}

const readImports = (path: string): string[] =>
  [...readFileSync(inRoot(path), "utf8").matchAll(IMPORTED)].map(({ groups }) =>
    join(dirname(path), groups!["path"]!),
  );
