import { expect, test } from "vitest";
import { hasControl, LineText } from "../../../src/core/text.ts";

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
