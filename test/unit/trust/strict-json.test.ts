import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { parseBounded, parseCanonical } from "../../../src/trust/strict-json.ts";
import { codeOf, refusalOf } from "../../support/refusals.ts";

const bytes = (text: string): Buffer => Buffer.from(text, "utf8");

test("canonical bytes come back as their value (SNAP-1)", () => {
  expect(parseCanonical(bytes('{"a":[1,"x"],"b":{"c":null}}'))).toEqual({ a: [1, "x"], b: { c: null } });
});

test.each<[string, Buffer]>([
  ["duplicate keys", bytes('{"a":1,"a":2}')],
  ["keys out of order", bytes('{"b":1,"a":2}')],
  ["white space", bytes('{"a": 1}')],
  ["a newline at the end", bytes('{"a":1}\n')],
  ["an escape that is not needed", bytes('{"a":"\\u0041"}')],
  ["another spelling of a number", bytes('{"a":1.0}')],
  ["-0", bytes('{"a":-0}')],
  ["1e400, which reads as an infinity", bytes('{"a":1e400}')],
  ["a lone surrogate as an escape", bytes('{"a":"\\ud800"}')],
  ["a byte order mark", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes("{}")])],
  ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ["an overlong slash", Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ["a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ["nothing", bytes("")],
  ["two values", bytes("1 2")],
  ["NaN", bytes("NaN")],
])("signed bytes with %s are refused", (_, input) => {
  expect(codeOf(() => parseCanonical(input))).toBe("SNAPSHOT_MALFORMED");
});

test.each(["[", '{"a":'])("100,000 levels of %s are refused before the parser's stack is", (open) => {
  expect(codeOf(() => parseBounded(bytes(open.repeat(100_000))))).toBe("SNAPSHOT_MALFORMED");
});

test("64 levels pass and 65 do not; brackets inside strings do not count", () => {
  const levels = (count: number) => bytes("[".repeat(count) + "]".repeat(count));
  expect(parseCanonical(levels(64))).toBeInstanceOf(Array);
  expect(codeOf(() => parseCanonical(levels(65)))).toBe("SNAPSHOT_MALFORMED");
  expect(parseBounded(bytes(`"${'[\\"'.repeat(100)}"`))).toBe('["'.repeat(100));
});

const nested = (open: string, inside: string, close: string, levels: number): string =>
  open.repeat(levels) + inside + close.repeat(levels);

test.each<[string, string]>([
  ["lists", nested("[", "", "]", 65)],
  ["objects", nested('{"a":', "1", "}", 65)],
  ["lists behind a string that ends in a backslash", String.raw`["\\",${nested("[", "", "]", 64)}]`],
  ["lists behind other lists", `[[],{},${nested("[", "", "]", 64)}]`],
])("65 levels of %s are refused before they are parsed", (_, text) => {
  expect(refusalOf(() => parseBounded(bytes(text))).message).toBe("bytes refused: nested too deeply");
});

test.each<[string, string]>([
  ["64 levels of objects", nested('{"a":', "1", "}", 64)],
  ["a hundred lists side by side", `[${"[],".repeat(100)}[]]`],
  ["a hundred objects side by side", `[${"{},".repeat(100)}{}]`],
  ["a hundred brackets in a string", `["${"[{".repeat(50)}"]`],
  ["a hundred brackets behind an escaped quote", String.raw`["\"${"[{".repeat(50)}"]`],
])("%s are parsed", (_, text) => {
  expect(parseBounded(bytes(text))).toEqual(JSON.parse(text));
});

test("bytes that are no JSON are refused as such", () => {
  expect(refusalOf(() => parseBounded(bytes("{"))).message).toBe("bytes refused: not JSON");
});

test("any canonical value is read back, and with any byte changed it is another value or refused", () => {
  const value = fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.parse(JSON.stringify(json)) as Json);
  fc.assert(
    fc.property(value, fc.nat(), fc.integer({ min: 1, max: 255 }), (json, place, change) => {
      const good = canonicalBytes(json);
      expect(parseCanonical(good)).toEqual(json);
      const bad = Buffer.from(good);
      bad[place % bad.length]! ^= change;
      try {
        expect(canonicalBytes(parseCanonical(bad))).toEqual(bad);
      } catch (error) {
        expect(error).toHaveProperty("code", "SNAPSHOT_MALFORMED");
      }
    }),
  );
});
