// The table of `npm run mutants` names code and tests by their text: an entry that no longer fits would prove nothing.

import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mutated } from "../../scripts/mutants/mutated.ts";
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
