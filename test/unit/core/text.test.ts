import fc from "fast-check";
import { expect, test } from "vitest";
import {
  hasControl,
  isStorable,
  LineText,
  LongText,
  storableText,
  withStorableText,
} from "../../../src/core/text.ts";

test.each(["\n", "\r", "\0", "\u001b", "\u007f", "\u0085", "\u009b", "\u2028", "\u2029"])(
  "%j is no part of a line",
  (character) => {
    expect(hasControl(`a${character}b`)).toBe(true);
    expect(LineText(10).safeParse(`a${character}b`).success).toBe(false);
  },
);

test.each(["", "a b", "größe", "\u00a0", "日本", "🛶"])("%j is a line", (text) => {
  expect(hasControl(text)).toBe(false);
  expect(LineText(10).safeParse(text).success).toBe(true);
});

test.each(["a\0b", "\ud800", "a\udc00b", "\ud83d"])("%j is refused as a line and as a text", (text) => {
  expect(LineText(10).safeParse(text).success).toBe(false);
  expect(LongText(10).safeParse(text).success).toBe(false);
});

test.each(["two\nlines", "\t", "\u001b[31m", "🛶"])("%j is a text", (text) => {
  expect(LongText(10).safeParse(text).success).toBe(true);
});

test("any text cut to any bound is storable, and a storable text within its bound stays as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(20), (text, charsMax) => {
      const kept = storableText(text, charsMax);
      expect(kept.length).toBeLessThanOrEqual(charsMax);
      expect(isStorable(kept)).toBe(true);
      if (isStorable(text) && text.length <= charsMax) expect(kept).toBe(text);
    }),
  );
  expect(storableText("a🛶", 2)).toBe("a\ufffd");
});

test("a message made storable differs from the original in its unstorable texts alone", () => {
  const message = { at: 1, gone: null, list: ["fine", "a\0b", { deep: "\ud800" }] };
  expect(withStorableText(message)).toEqual({
    at: 1,
    gone: null,
    list: ["fine", "a\ufffdb", { deep: "\ufffd" }],
  });
});
