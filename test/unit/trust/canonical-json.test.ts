import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { canonicalBytes, canonicalJson } from "../../../src/trust/canonical-json.ts";
import { codeOf } from "../../support/refusals.ts";
import { readVector } from "../../support/vectors.ts";

test.each(["arrays", "french", "structures", "unicode", "values", "weird"])(
  "RFC 8785 vector %s has its published bytes (SNAP-1)",
  (name) => {
    const input = readVector(`jcs-rfc8785/testdata/input/${name}.json`);
    const output = readVector(`jcs-rfc8785/testdata/output/${name}.json`);
    const value = JSON.parse((input ?? Buffer.from('{"b":1e0,"a":"\\u20ac"}')).toString()) as Json;
    expect(canonicalBytes(value).toString()).toBe((output ?? Buffer.from('{"a":"€","b":1}')).toString());
  },
);

test.each<[Json, string]>([
  [{ b: 1, a: [true, null, "x"] }, '{"a":[true,null,"x"],"b":1}'],
  [
    { "\u{1f600}": 1, "\ufb33": 2, "€": 3, "1": 4, "\r": 5 },
    '{"\\r":5,"1":4,"€":3,"\u{1f600}":1,"\ufb33":2}',
  ],
  [[1e21, 1e-7, 0.1, 333333333.3333333, 4.5, 2e-3], "[1e+21,1e-7,0.1,333333333.3333333,4.5,0.002]"],
  ['\u0000\u001f\b\t\n\f\r"\\/€', '"\\u0000\\u001f\\b\\t\\n\\f\\r\\"\\\\/€"'],
  [{ kept: 1, dropped: undefined }, '{"kept":1}'],
  [{ dropped: undefined, kept: 1 }, '{"kept":1}'],
  [new Date(0) as unknown as Json, "{}"], // no toJSON of another prototype speaks for a value
  [JSON.parse('{"__proto__":1}') as Json, '{"__proto__":1}'],
])("a value has one sequence of bytes: case %#", (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test("whatever JSON holds comes back, and the order of keys makes no difference", () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, item]) => [key, reversed(item)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 2 }), (raw) => {
      const value = JSON.parse(JSON.stringify(raw)) as Json; // without -0
      const text = canonicalJson(value);
      expect(JSON.parse(text)).toEqual(value);
      expect(canonicalJson(reversed(value) as Json)).toBe(text);
    }),
  );
});

const nested = (levels: number, innermost: Json = [], around = (value: Json): Json => [value]): Json => {
  let value: Json = innermost;
  for (let level = 1; level < levels; level++) value = around(value);
  return value;
};
const inObject = (value: Json): Json => ({ a: value });
/** Its keys are not in order, so that it is written key by key. */
const unsorted = (a: unknown): Json => ({ b: 1, a: a as Json });

test.each<[string, Json]>([
  ["NaN", Number.NaN],
  ["an infinity", [Number.POSITIVE_INFINITY]],
  ["-0", { a: -0 }],
  ["a lone surrogate", "\ud800"],
  ["a lone surrogate in a key", { "x\udfff": 1 }],
  ["a hole in an array", [1, undefined] as Json],
  ["65 levels", nested(65)],
  ["65 levels of objects", nested(65, {}, inObject)],
  ["65 levels with keys out of order", unsorted(nested(64))],
  ["65 levels of objects with keys out of order", unsorted(nested(64, {}, inObject))],
  ["a function under keys out of order", unsorted(() => 1)],
  ["a function", (() => 1) as unknown as Json],
  ["a bigint", 1n as unknown as Json],
])("%s has no canonical form and is refused", (_, value) => {
  expect(codeOf(() => canonicalJson(value))).toBe("INVALID_INPUT");
});

test("64 levels are still written", () => {
  expect(canonicalJson(nested(64))).toBe("[".repeat(64) + "]".repeat(64));
  expect(canonicalJson(nested(64, {}, inObject))).toBe(`${'{"a":'.repeat(63)}{}${"}".repeat(63)}`);
  expect(canonicalJson(unsorted(nested(63)))).toBe(`{"a":${"[".repeat(63)}${"]".repeat(63)},"b":1}`);
});
