import { describe, expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/core/error-codes.ts";
import type { Place } from "../../../src/core/error-codes/entry.ts";
import { FairleadError, nextOf } from "../../../src/core/errors.ts";

/** Advice that cannot be followed where it is read. */
const UNFIT: Readonly<Record<Place, RegExp>> = {
  operator: /agent's config or its token/,
  console: /--timeout|`fairlead login`|Retry-After|Check the id|--help/,
  server: /--timeout|Retry-After|Check the id|request id|send the request again|see \/readyz/,
  node: /--timeout|Retry-After|Check the id|request id|send the request again|\/readyz|`fairlead login`/,
};

/** Codes of requests that only the API answers with: no server and no agent ends with one. */
const SHARED = [
  "USAGE",
  "FILE_NOT_FOUND",
  "INVALID_INPUT",
  "NOT_FOUND",
  "TOO_MANY_REQUESTS",
  "PAYLOAD_TOO_LARGE",
  "INTERNAL",
  "NOT_READY",
  "UNREACHABLE",
  "TIMEOUT",
  "TOKEN_INVALID",
  "DISK_FULL",
  "PATH_REFUSED",
] as const;

describe("what to do (USE-4)", () => {
  test.each(SHARED)("USE-4: the advice for %s can be followed at a node and at a server", (code) => {
    expect(nextOf(code, "node")).not.toMatch(UNFIT.node);
    if (code !== "NOT_FOUND" && code !== "TOKEN_INVALID" && code !== "TOO_MANY_REQUESTS")
      expect(nextOf(code, "server")).not.toMatch(UNFIT.server);
  });

  test("USE-4: no code tells a reader of the console to type a flag or to sign in on a command line", () => {
    for (const code of Object.keys(ERROR_CODES))
      if (code !== "USAGE") expect(nextOf(code, "console"), code).not.toMatch(UNFIT.console);
  });

  test("USE-4: a code without words for a place has those of the operator, and an unknown code has none", () => {
    expect(nextOf("ROLLOUT_ACTIVE", "node")).toBe(ERROR_CODES.ROLLOUT_ACTIVE.next);
    expect(nextOf("NOT_READY")).toContain("/readyz");
    expect(nextOf("NO_SUCH_CODE", "node")).toBeNull();
    expect(nextOf("constructor", "node")).toBeNull();
  });

  test("USE-4: an error's body has the advice of the place where it is shown", () => {
    const error = new FairleadError("NOT_READY", "another agent (pid 7) uses /var/lib/fairlead");
    expect(error.body("node").next).toContain("on the node");
    expect(error.body().next).toContain("/readyz");
  });
});
