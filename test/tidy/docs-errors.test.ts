// docs/errors.md says of every code what it means for a caller. It must say what src/core/error-codes.ts says.

import { expect, test } from "vitest";
import { ERROR_CODES, EXIT } from "../../src/core/error-codes.ts";
import type { CodeEntry } from "../../src/core/error-codes/entry.ts";
import { readSource } from "./repository.ts";

const codeRowsOf = (page: string): string[] => page.match(/^\| `[A-Z][A-Z0-9_]+` \|.*\|$/gm) ?? [];
const exitRowsOf = (page: string): [name: string, code: number][] =>
  [...page.matchAll(/^\| (\d+) \| `(\w+)` \| .+ \|$/gm)].map(([, code, name = ""]) => [name, Number(code)]);

/** A bar would end the cell. */
const cell = (text: string): string => text.replaceAll("|", "\\|");

const PLACE_WORDS = { console: "In the console", server: "At a server", node: "About a node" } as const;

const adviceOf = ({ next, at }: CodeEntry): string =>
  [
    next,
    ...Object.entries(PLACE_WORDS).flatMap(([place, words]) => {
      const advice = at[place as keyof typeof PLACE_WORDS];
      return advice === undefined ? [] : [`*${words}:* ${advice}`];
    }),
  ].join(" ");

const expectedRows = (): string[] =>
  Object.entries(ERROR_CODES).map(
    ([code, entry]) =>
      `| \`${code}\` | ${entry.http} | ${EXIT[entry.exit]} ${entry.exit} | ${cell(adviceOf(entry))} |`,
  );

test("the error page has a row for every code, in the list's order and with its words", () => {
  expect(codeRowsOf(readSource("docs/errors.md").text)).toEqual(expectedRows());
});

test("the error page names every exit code", () => {
  expect(exitRowsOf(readSource("docs/errors.md").text)).toEqual(Object.entries(EXIT));
});

test("a row that is missing, out of place or in other words is a difference", () => {
  const rows = expectedRows();
  const [first = "", second = "", ...rest] = rows;
  for (const wrong of [rows.slice(1), [second, first, ...rest], [`${first} `, second, ...rest]]) {
    expect(codeRowsOf(["prose about `NOT_FOUND`", ...wrong].join("\n"))).not.toEqual(rows);
  }
  expect(exitRowsOf("| 3 | `invalid` | breaks a rule |\n| code | name |")).toEqual([["invalid", 3]]);
});
