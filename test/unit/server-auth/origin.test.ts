// A page of somebody else's cannot write with the console's cookie.

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkOrigin } from "../../../src/server/auth/origin.ts";
import { decodeCursor, encodeCursor } from "../../../src/server/api/cursor.ts";
import { knownScopes } from "../../../src/server/auth/principal.ts";

const OWN = "http://127.0.0.1:7400";

describe("an origin", () => {
  test.each(["POST", "PUT", "PATCH", "DELETE"])("lets the console's own page %s", (method) => {
    expect(() => checkOrigin(method, OWN, OWN)).not.toThrow();
  });

  test.each([
    undefined,
    "null",
    "",
    "http://127.0.0.1:7401",
    "http://localhost:7400",
    "https://127.0.0.1:7400",
    "http://127.0.0.1:7400.evil.test",
    "http://evil.test",
  ])("refuses a write from %s", (origin) => {
    expect(() => checkOrigin("POST", origin, OWN)).toThrow(
      expect.objectContaining({ code: "ORIGIN_REFUSED" }),
    );
  });

  test.each(["GET", "HEAD"])("does not matter to %s, which changes nothing", (method) => {
    expect(() => checkOrigin(method, "http://evil.test", OWN)).not.toThrow();
  });
});

describe("a cursor", () => {
  const After = z.strictObject({ name: z.string() });

  test("comes back as it was given out", () => {
    expect(decodeCursor(encodeCursor({ name: "ä/1" }), After)).toEqual({ name: "ä/1" });
  });

  test.each(["", "x", encodeCursor({ name: 1 }), encodeCursor({ name: "a", more: 1 }), encodeCursor(null)])(
    "that the list did not give out is refused: %j",
    (cursor) => {
      expect(() => decodeCursor(cursor, After)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    },
  );
});

test("a scope that this version does not know grants nothing", () => {
  expect(knownScopes(["root", "ADMIN", "admin "])).toEqual([]);
  expect(knownScopes(["root", "admin"])).toEqual(["admin"]);
});
