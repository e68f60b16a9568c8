import { expect, test } from "vitest";
import { digestOf, digestOfJson, equalSecret, sha256Hex } from "../../../src/trust/digest.ts";

const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

test("a digest names bytes, and a value by its canonical bytes", () => {
  expect(sha256Hex("")).toBe(EMPTY);
  expect(digestOf(new Uint8Array())).toBe(`sha256:${EMPTY}`);
  expect(digestOfJson({ b: 1, a: 2 })).toBe(digestOf('{"a":2,"b":1}'));
  expect(digestOfJson({ b: 1, a: 2 })).not.toBe(digestOfJson({ b: 2, a: 1 }));
});

test.each([
  ["abc", "abc", true],
  ["abc", "abd", false],
  ["abc", "abcd", false],
  ["", "a", false],
])("the secrets %j and %j are compared whole, whatever their lengths: %s", (left, right, equal) => {
  expect(equalSecret(left, right)).toBe(equal);
});
