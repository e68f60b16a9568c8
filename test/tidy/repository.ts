// The repository as the tidy checks see it.

import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { inRoot } from "../../scripts/root.mjs";

export type SourceFile = { path: string; text: string };

export const readSource = (path: string): SourceFile => ({ path, text: readFileSync(inRoot(path), "utf8") });

export const sourcesLike = (...patterns: string[]): SourceFile[] =>
  globSync(patterns, { cwd: inRoot(".") })
    .toSorted()
    .map(readSource);

/** What git tracks or would track; deleted files that are not committed yet are left out. */
export function trackedTextFiles(): SourceFile[] {
  const listed = execFileSync("git", ["ls-files", "-coz", "--exclude-standard"], {
    cwd: inRoot("."),
    encoding: "utf8",
  });
  return listed
    .split("\0")
    .filter((path) => path !== "" && existsSync(inRoot(path)))
    .map(readSource)
    .filter(({ text }) => !text.includes("\0"));
}

/** Comments blanked and lines kept, so that a check neither trips over prose nor loses its line numbers. */
export function withoutComments(text: string): string {
  const blank = (comment: string) => comment.replaceAll(/[^\n]/g, " ");
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, blank)
    .replaceAll(/(^|[^:"'`\\])(\/\/.*)$/gm, (_, before: string, comment: string) => before + blank(comment));
}

/** `path:line: what` for each match. */
export function occurrences({ path, text }: SourceFile, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(
    (match) => `${path}:${text.slice(0, match.index).split("\n").length}: ${match[0].trim()}`,
  );
}
