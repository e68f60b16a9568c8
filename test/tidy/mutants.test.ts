// The table of `npm run mutants` names code and tests by their text: an entry that no longer fits would prove nothing.

import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mutated } from "../../scripts/mutants/mutated.ts";
import { shouldIgnore } from "../../scripts/mutants/stryker/ignore-texts.ts";
import { STRYKER_LAYERS } from "../../scripts/mutants/stryker/layers.ts";
import { SURVIVORS } from "../../scripts/mutants/stryker/survivors.ts";
import { MUTANTS } from "../../scripts/mutants/table.ts";
import { inRoot } from "../../scripts/root.mjs";

test.each(MUTANTS.map((mutant) => [mutant.id, mutant] as const))(
  "mutant %s changes a text that its file holds exactly once, and names a test file of its project",
  (_id, mutant) => {
    expect(mutated(readFileSync(inRoot(mutant.file), "utf8"), mutant)).toMatchObject({ kind: "changed" });
    expect(existsSync(inRoot(mutant.test))).toBe(true);
    const folders = mutant.project === "unit" ? ["test/unit/", "test/tidy/"] : [`test/${mutant.project}/`];
    expect(folders.some((folder) => mutant.test.startsWith(folder))).toBe(true);
  },
);

test("mutants have ids of their own", () => {
  expect(new Set(MUTANTS.map(({ id }) => id)).size).toBe(MUTANTS.length);
});

test("a text that is missing, occurs twice or stays the same makes its mutant stale", () => {
  expect(mutated("a b", { find: "c", replace: "" })).toMatchObject({ kind: "stale" });
  expect(mutated("a a", { find: "a", replace: "" })).toMatchObject({ kind: "stale" });
  expect(mutated("a b", { find: "a", replace: "a" })).toMatchObject({ kind: "stale" });
  expect(mutated("a b", { find: "a", replace: "$&" })).toEqual({ kind: "changed", text: "$& b" });
});

test("an explained survivor names a measured file and a line that the file holds", () => {
  const measured = new Set(STRYKER_LAYERS.flatMap(({ files }) => files));
  for (const { file, line, was, becomes } of SURVIVORS) {
    expect(measured).toContain(file);
    const text = readFileSync(inRoot(file), "utf8");
    expect(text.split("\n").map((each) => each.trim())).toContain(line);
    expect(text).toContain(was);
    expect(becomes).not.toBe(was);
  }
});

test("each file that Stryker changes exists and belongs to one layer", () => {
  const files = STRYKER_LAYERS.flatMap((layer) => layer.files);
  expect(new Set(files).size).toBe(files.length);
  expect(files.filter((file) => !existsSync(inRoot(file)))).toEqual([]);
});

const literal = (value: string) => ({ type: "StringLiteral", value });
const call = (name: string) => ({ type: "CallExpression", callee: { type: "Identifier", name } });

test("Stryker leaves out a text for people, and changes a code, a condition and prose in any other place", () => {
  const within = (node: object, ...parents: object[]) =>
    shouldIgnore([...parents.toReversed(), node].reduce(chain, null)!);
  expect(within(literal("it is for another node"), call("refused"))).toBeDefined();
  expect(within(literal("it is"), { type: "ConditionalExpression" }, call("refused"))).toBeDefined();
  const named = (name: string) => ({ type: "FunctionDeclaration", id: { type: "Identifier", name } });
  const returned = [{ type: "ReturnStatement" }, { type: "BlockStatement" }];
  expect(within(literal("a key is named twice"), ...returned, named("whyUntrusted"))).toBeDefined();
  expect(within(literal("a key is named twice"), ...returned, named("scopeOf"))).toBeUndefined();
  expect(within(literal("HEAD_REFUSED"), call("refused"))).toBeUndefined();
  expect(within({ type: "ConditionalExpression" }, call("refused"))).toBeUndefined();
  expect(within(literal("BEGIN PRIVATE KEY"), call("includes"))).toBeUndefined();
});

type Path = Parameters<typeof shouldIgnore>[0];
const chain = (parentPath: Path | null, node: object): Path => ({ node: node as Path["node"], parentPath });
