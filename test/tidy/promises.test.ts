// docs/promises.md tells users what holds, docs/faults.md what is survived. A line whose test is gone is only a claim.

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { inRoot } from "../../scripts/root.mjs";
import { readSource, withoutComments } from "./repository.ts";

/** `example`: where a test runs over a table, the one that is meant, in its own words there. */
type Row = { id: string; file: string; title: string; example: string };

/** Rows of every table with the columns id or case | promise or outcome | test file | test title | example. */
function rowsOf(page: string): Row[] {
  return page
    .split("\n")
    .filter((line) => /^\s*\|/.test(line) && !/^[\s|:-]+$/.test(line))
    .map((line) =>
      line
        .trim()
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map(plain),
    )
    .filter(([id]) => !["id", "case"].includes(id?.toLowerCase() ?? ""))
    .map(([id = "", , file = "", title = "", example = ""]) => ({ id, file, title, example }));
}

/** A cell without its markdown: code marks, link targets, escaped bars. */
const plain = (cell: string): string =>
  cell
    .trim()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "")
    .replaceAll("\\|", "|");

/** Titles are the first argument of a call: test("…", …), or the second call of test.each(…)("…", …). */
function titlesIn(code: string): Set<string> {
  const calls = withoutComments(code).matchAll(/\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1\s*,/g);
  return new Set([...calls].map(([, , title = ""]) => plain(title.replaceAll(/\\(["'`])/g, "$1"))));
}

function problemsOf(rows: readonly Row[], read: (file: string) => string | undefined): string[] {
  if (rows.length === 0) return ["the page has no rows"];
  return rows.flatMap(({ id, file, title, example }) => {
    const code = read(file);
    if (code === undefined) return [`${id}: no file ${file}`];
    if (!titlesIn(code).has(title)) return [`${id}: no test "${title}" in ${file}`];
    return example === "" || saysLiterally(code, example) ? [] : [`${id}: no "${example}" in ${file}`];
  });
}

const saysLiterally = (code: string, example: string): boolean =>
  ['"', "'", "`"].some((quote) => withoutComments(code).includes(`${quote}${example}${quote}`));

const readIfThere = (file: string) => (existsSync(inRoot(file)) ? readSource(file).text : undefined);

test.each([
  ["promise", "docs/promises.md"],
  ["fault", "docs/faults.md"],
])("every %s in %s names a test that exists", (_what, page) => {
  expect(problemsOf(rowsOf(readSource(page).text), readIfThere)).toEqual([]);
});

test("a promise is refused when its file or its test's title is missing", () => {
  const page = [
    "| id | promise | test file | test title |",
    "| --- | --- | --- | --- |",
    "| A-1 | Holds. | `test/a.test.ts` | it `holds` |",
    "| A-2 | Title gone. | `test/a.test.ts` | it held once |",
    "| A-3 | Commented out. | `test/a.test.ts` | it is off |",
    "| A-4 | File gone. | [test/b.test.ts](../test/b.test.ts) | it holds |",
    "| case | outcome | test file | test title | example |",
    "| a flipped bit | Refused. | `test/a.test.ts` | it `holds` | a bit |",
    "| a lost bit | Refused. | `test/a.test.ts` | it `holds` | no bit |",
  ].join("\n");
  const code = 'test.each(["a bit"])(\n  "it `holds`",\n  () => {});\n// test("it is off", () => {});\n';
  expect(problemsOf(rowsOf(page), (file) => (file === "test/a.test.ts" ? code : undefined))).toEqual([
    'A-2: no test "it held once" in test/a.test.ts',
    'A-3: no test "it is off" in test/a.test.ts',
    "A-4: no file test/b.test.ts",
    'a lost bit: no "no bit" in test/a.test.ts',
  ]);
  expect(problemsOf(rowsOf("no table"), () => code)).toEqual(["the page has no rows"]);
});
