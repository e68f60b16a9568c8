import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../src/cli/specs/index.ts";
import { EXIT } from "../../../src/core/error-codes.ts";

const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8");
const section = (title: string): string => page.split(`## ${title}\n`)[1]!.split("\n## ")[0]!;
const cells = (title: string): string[][] =>
  section(title)
    .split("\n")
    .filter((line) => /^\| [`\d]/.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

describe("docs/cli.md (USE-2)", () => {
  test("its exit codes are the CLI's, all of them, under the same names", () => {
    const documented = cells("Exit codes").map(([code, name]) => [name, Number(code)]);
    expect(Object.fromEntries(documented)).toEqual(EXIT);
    expect(documented).toHaveLength(Object.keys(EXIT).length);
  });

  test("it names every command, and no other", () => {
    expect(cells("Commands").map(([name]) => name!.replaceAll("`", ""))).toEqual(
      COMMANDS.map(({ path }) => path),
    );
  });

  test("flags that it names exist", () => {
    const flags = new Set(
      COMMANDS.flatMap(({ options }) => options ?? []).map(({ flags: text }) => text.split(" ")[0]),
    );
    const foreign = ["--json", "--help", "--context", "--embedded", "--data-dir"];
    const named = [...page.matchAll(/--[a-z][a-z-]+/g)].map(([flag]) => flag);
    expect(named.filter((flag) => !flags.has(flag) && !foreign.includes(flag))).toEqual([]);
  });
});
