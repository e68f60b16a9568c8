// RFC 6902 (SNAP-6), with the published cases where they are at hand.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Json } from "../../../src/core/json.ts";
import { PatchOperation } from "../../../src/core/snapshot/increment.ts";
import { diffJson } from "../../../src/trust/json-diff.ts";
import { applyPatch } from "../../../src/trust/json-patch.ts";
import { codeOf } from "../../support/refusals.ts";
import { readVector } from "../../support/vectors.ts";

interface Case {
  readonly comment?: string;
  readonly doc: Json;
  readonly patch: Json;
  readonly expected?: Json;
  readonly error?: string;
  readonly disabled?: boolean;
}

const FEW: Case[] = [
  {
    comment: "A.2. Adding an Array Element",
    doc: { foo: ["bar", "baz"] },
    patch: [{ op: "add", path: "/foo/1", value: "qux" }],
    expected: { foo: ["bar", "qux", "baz"] },
  },
  {
    comment: "A.9. Testing a Value: Error",
    doc: { baz: "qux" },
    patch: [{ op: "test", path: "/baz", value: "bar" }],
    error: "string not equivalent",
  },
];

/** RFC 6902 ignores members that it does not know; what is signed here has none (SNAP-5). */
const isStricterHere = ({ patch }: Case): boolean => /"(?:spurious|xyz)"/.test(JSON.stringify(patch));
/** As an increment comes: the schema first. */
const patched = (doc: Json, patch: Json): Json => applyPatch(doc, z.array(PatchOperation).parse(patch));

describe.each(["spec_tests", "tests"])("published cases: %s", (file) => {
  const read = readVector(`json-patch/${file}.json`);
  const cases = read === undefined ? FEW : (JSON.parse(read.toString()) as Case[]);
  const usable = cases.filter((item) => item.disabled !== true && !isStricterHere(item));
  test.each(usable.map((item, index) => [item.comment ?? item.error ?? `case ${index}`, item] as const))(
    "%s",
    (_, { doc, patch, expected }) => {
      const before = structuredClone(doc);
      if (expected === undefined) expect(() => patched(doc, patch)).toThrow();
      else expect(patched(doc, patch)).toEqual(expected);
      expect(doc).toEqual(before);
    },
  );
});

const refusal = (doc: Json, ...operations: PatchOperation[]) => codeOf(() => applyPatch(doc, operations));

test.each(["01", "00", "-1", "+1", "1e0", "1.0", " 1", "0x1", "４", "", "length", "9999999999", "3"])(
  "an array has no place called %j",
  (index) => {
    for (const operation of [
      { op: "add", path: `/a/${index}`, value: 1 },
      { op: "replace", path: `/a/${index}`, value: 1 },
      { op: "remove", path: `/a/${index}` },
      { op: "test", path: `/a/${index}`, value: 1 },
      { op: "copy", from: `/a/${index}`, path: "/b" },
      { op: "move", from: `/a/${index}`, path: "/b" },
    ] as const)
      expect(refusal({ a: [1, 2] }, operation)).toBe("INCREMENT_RESULT_MISMATCH");
  },
);

test("the end of an array is a place to add, and nothing else", () => {
  expect(applyPatch([1], [{ op: "add", path: "/-", value: 2 }])).toEqual([1, 2]);
  for (const op of ["remove", "test", "replace"] as const)
    expect(refusal([1], { op, path: "/-", value: 1 })).toBe("INCREMENT_RESULT_MISMATCH");
  expect(refusal([1], { op: "add", path: "/-/a", value: 1 })).toBe("INCREMENT_RESULT_MISMATCH");
});

test("__proto__ is a key like any other and reaches no prototype", () => {
  const result = applyPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: 1 } }]);
  expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":1}}');
  expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  for (const path of ["/__proto__/polluted", "/constructor/prototype/polluted", "/toString/x"])
    expect(refusal({}, { op: "add", path, value: 1 })).toBe("INCREMENT_RESULT_MISMATCH");
  expect(refusal([], { op: "add", path: "/__proto__/polluted", value: 1 })).toBe("INCREMENT_RESULT_MISMATCH");
  expect(refusal({}, { op: "copy", from: "/__proto__", path: "/a" })).toBe("INCREMENT_RESULT_MISMATCH");
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
  const nested = JSON.parse('{"a":{"__proto__":{"x":1}}}') as Json;
  expect(JSON.stringify(applyPatch(nested, [{ op: "copy", from: "/a", path: "/b" }]))).toBe(
    '{"a":{"__proto__":{"x":1}},"b":{"__proto__":{"x":1}}}',
  );
});

test("copies of copies end at a bound, and so do moves within a long array", () => {
  const doubling = Array.from({ length: 64 }, (): PatchOperation => ({ op: "copy", from: "", path: "/a" }));
  expect(refusal({ a: 1, b: ["x".repeat(100)] }, ...doubling)).toBe("accepted");
  const growing = Array.from({ length: 64 }, (_, index): PatchOperation => ({
    op: "copy",
    from: "",
    path: `/${index}`,
  }));
  expect(refusal({}, ...growing)).toBe("INCREMENT_RESULT_MISMATCH");
  const long = Array<Json>(1_000_000).fill(1);
  const shifting = Array.from({ length: 100 }, (): PatchOperation => ({ op: "remove", path: "/0" }));
  expect(refusal(long, ...shifting)).toBe("INCREMENT_RESULT_MISMATCH");
});

test("a value cannot move into itself, and one that stays stays", () => {
  expect(refusal({ a: { b: 1 } }, { op: "move", from: "/a", path: "/a/b" })).toBe(
    "INCREMENT_RESULT_MISMATCH",
  );
  expect(applyPatch({ a: 1 }, [{ op: "move", from: "/a", path: "/a" }])).toEqual({ a: 1 });
  expect(refusal({ a: 1 }, { op: "move", from: "/b", path: "/b" })).toBe("INCREMENT_RESULT_MISMATCH");
});

/** With the keys that pointers have to escape, and the one that a prototype hides behind. */
const json = fc
  .jsonValue({ maxDepth: 4, stringUnit: fc.constantFrom("a", "b", "/", "~", "0", "1", "é", "__proto__") })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);

test("the difference of two values, applied to the first, gives the second", () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const operations = diffJson(before, after);
      expect(JSON.stringify(sorted(applyPatch(before, operations)))).toBe(JSON.stringify(sorted(after)));
      expect(diffJson(before, before)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("the difference after a small change is small", () => {
  const items = Array.from({ length: 500 }, (_, id) => ({ id, name: `n${id}`, tags: ["a", "b"] }));
  const changed = items.map((item) => (item.id === 250 ? { ...item, name: "other" } : item));
  expect(diffJson({ items }, { items: changed })).toEqual([
    { op: "replace", path: "/items/250/name", value: "other" },
  ]);
  expect(diffJson({ items }, { items: items.toSpliced(250, 1) })).toEqual([
    { op: "remove", path: "/items/250" },
  ]);
  expect(diffJson({ items }, { items: items.toSpliced(7, 0, items[0]!) })).toHaveLength(1);
});

/** Members in one order, so that two values are one text; `toEqual` would look at prototypes' keys as well. */
function sorted(value: Json): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as Record<string, Json>).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, item]) => [key, sorted(item)]);
}
