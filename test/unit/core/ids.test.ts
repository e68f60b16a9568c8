import fc from "fast-check";
import { expect, test } from "vitest";
import {
  Digest,
  Instant,
  KeyId,
  Name,
  NodeId,
  ProfileId,
  UpgradeId,
  Version,
} from "../../../src/core/ids.ts";

const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown): boolean =>
  schema.safeParse(value).success;

test.each([
  "2026-01-31T12:00:00.000Z",
  "2026-01-31T12:00:00Z",
  "2024-02-29T23:59:59.9Z",
  "2000-02-29T00:00:00Z",
  "1970-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
])("%s is a time", (text) => {
  expect(accepts(Instant, text)).toBe(true);
});

test.each([
  ["30 February, which Date.parse takes", "2026-02-30T00:00:00Z"],
  ["29 February of no leap year", "2026-02-29T00:00:00Z"],
  ["29 February of 1900", "1900-02-29T00:00:00Z"],
  ["31 April", "2026-04-31T00:00:00Z"],
  ["day 0", "2026-01-00T00:00:00Z"],
  ["month 13", "2026-13-01T00:00:00Z"],
  ["month 0", "2026-00-01T00:00:00Z"],
  ["hour 24", "2026-01-01T24:00:00Z"],
  ["minute 60", "2026-01-01T00:60:00Z"],
  ["a leap second", "2026-06-30T23:59:60Z"],
  ["an offset", "2026-01-01T00:00:00+01:00"],
  ["no zone", "2026-01-01T00:00:00"],
  ["a date alone", "2026-01-01"],
  ["microseconds", "2026-01-01T00:00:00.000001Z"],
  ["the year 0, which PostgreSQL does not know", "0000-06-01T00:00:00Z"],
  ["a year before any machine's clock", "1969-12-31T23:59:59Z"],
  ["a five-digit year", "12026-01-01T00:00:00Z"],
  ["white space", " 2026-01-01T00:00:00Z"],
  ["a newline after it", "2026-01-01T00:00:00Z\n"],
  ["a number", 0],
])("%s is no time", (_, text) => {
  expect(accepts(Instant, text)).toBe(false);
});

test("every time that a machine writes is one, and reads back as the same moment", () => {
  const range = {
    min: new Date("1970-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59Z"),
    noInvalidDate: true,
  };
  fc.assert(
    fc.property(fc.date(range), (date) => {
      expect(accepts(Instant, date.toISOString())).toBe(true);
    }),
  );
});

const UUID = "0b1c2d3e-4f50-4617-8899-aabbccddeeff";
const HEX = "0123456789abcdef".repeat(4);

test.each([
  [
    "NodeId",
    NodeId,
    UUID,
    [UUID.toUpperCase(), UUID.slice(1), `${UUID}0`, `{${UUID}}`, UUID.replaceAll("-", "")],
  ],
  [
    "Digest",
    Digest,
    `sha256:${HEX}`,
    [HEX, `sha256:${HEX.toUpperCase()}`, `sha256:${HEX}0`, `sha512:${HEX}`, ""],
  ],
  ["KeyId", KeyId, HEX, [HEX.toUpperCase(), HEX.slice(1), `${HEX}\n`]],
  ["Version", Version, "v1.2.3+build-4_a", ["", " 1", "-1", "1 2", "1/2", "1".repeat(51)]],
])("%s takes its one form and no other", (_, schema, good, bad) => {
  expect(accepts(schema, good)).toBe(true);
  expect(bad.filter((text) => accepts(schema, text))).toEqual([]);
});

test.each([Name, ProfileId, UpgradeId])(
  "a name that becomes a path segment cannot leave its folder",
  (schema) => {
    expect(["a", "hello-2.0_x", "A..b"].filter((text) => !accepts(schema, text))).toEqual([]);
    const bad = [
      "../../etc",
      "..",
      ".",
      ".hidden",
      "a/b",
      "a\\b",
      "a\0",
      "a\n",
      "",
      "-rf",
      "ä",
      "a b",
      "x".repeat(101),
    ];
    expect(bad.filter((text) => accepts(schema, text))).toEqual([]);
  },
);
