import { describe, expect, test } from "vitest";
import { failureOf, fields, paintFor, printable, table } from "../../../src/cli/output.ts";
import { ERROR_CODES, type ErrorCode } from "../../../src/core/error-codes.ts";
import { exitCodeOf, FairleadError } from "../../../src/core/errors.ts";
import { fairlead, homeFor, refusal, serve, TOKEN_ANSWER } from "./support.ts";

describe("errors of the CLI (USE-2, USE-4)", () => {
  test.each(Object.keys(ERROR_CODES) as ErrorCode[])(
    "%s has its exit code and says what to do next",
    (code) => {
      const failure = failureOf(new FairleadError(code, "m", { a: 1 }));
      expect(failure.exit).toBe(exitCodeOf(code));
      expect(failure.body).toEqual({ code, message: "m", next: ERROR_CODES[code].next, detail: { a: 1 } });
    },
  );

  test("an unknown option is exit code 2, as text on stderr and as JSON on stdout", async () => {
    const text = await fairlead(["node", "list", "--bogus"]);
    expect(text).toMatchObject({ code: 2, out: "" });
    expect(text.err).toBe(
      "error USAGE: unknown option '--bogus'\nwhat to do: Look at the command's --help.\n",
    );
    const json = await fairlead(["node", "list", "--bogus", "--json"]);
    expect(json).toMatchObject({ code: 2, err: "" });
    expect(json.json()).toMatchObject({ error: { code: "USAGE", message: "unknown option '--bogus'" } });
  });

  test("--json after -- is an argument, and the error stays text", async () => {
    const ran = await fairlead(["node", "list", "--", "--json"]);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toMatch(/too many arguments/);
  });

  test.each([
    [["rollout"], /Usage: fairlead rollout/],
    [["rolout"], /unknown command 'rolout' \(Did you mean rollout\?\)/],
    [["rollout", "show"], /missing required argument 'rollout'/],
    [["node", "token", "--name", "n"], /required option '--profile <id>' not specified/],
    [["rollout", "wait", "3f2a", "--for", "ever"], /Allowed choices are done, paused/],
    [["node", "list", "one-too-many"], /too many arguments/],
    [["server", "--embedded"], /server is a program of its own/],
  ])("wrong words %j are exit code 2", async (argv, message) => {
    const ran = await fairlead(argv);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toMatch(message);
    expect((await fairlead([...argv, "--json"])).json()).toMatchObject({ error: { code: "USAGE" } });
  });

  test.each([
    ["--timeout", "10", "a duration such as"],
    ["--timeout", "100d", "at most 24d"],
  ])("a wrong value of an option names the flag: %s %s", async (flag, value, message) => {
    const { url } = await serve(() => TOKEN_ANSWER);
    const ran = await fairlead(["rollout", "wait", "3f2a", flag, value], { env: await homeFor(url) });
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(`error USAGE: ${flag}: ${message}`);
  });

  test("a fault of the CLI itself shows a message and no stack", () => {
    const failure = failureOf(new TypeError("x is undefined"));
    expect(failure.exit).toBe(1);
    expect(JSON.stringify(failure)).not.toMatch(/at .*\.ts/);
  });

  test("a server's refusal keeps its code, its detail and its request id", async () => {
    const { url } = await serve(({ url: { pathname } }) =>
      pathname.endsWith("/auth/token") ? TOKEN_ANSWER : refusal(500, "INTERNAL", "it broke\u001b[2J"),
    );
    const env = await homeFor(url);
    const text = await fairlead(["whoami"], { env });
    expect(text.err).toBe(
      `error INTERNAL: it broke\ufffd[2J\nwhat to do: ${ERROR_CODES.INTERNAL.next}\nrequest id: req-1\n`,
    );
    expect((await fairlead(["whoami", "--json"], { env })).json()).toMatchObject({
      error: { code: "INTERNAL", detail: { request_id: "req-1" } },
    });
  });

  test("a code that this CLI does not know is shown, with the exit code of its HTTP status", async () => {
    const { url } = await serve(({ url: { pathname } }) =>
      pathname.endsWith("/auth/token") ? TOKEN_ANSWER : refusal(409, "FROM_THE_FUTURE", "no"),
    );
    const ran = await fairlead(["whoami"], { env: await homeFor(url) });
    expect(ran.code).toBe(4);
    expect(ran.err).toContain("error STATE_MOVED: FROM_THE_FUTURE: no");
  });

  test("a server that is not there is exit code 7", async () => {
    const env = await homeFor("http://127.0.0.1:1");
    const ran = await fairlead(["whoami", "--json"], { env });
    expect(ran.code).toBe(7);
    expect(ran.json()).toMatchObject({ error: { code: "UNREACHABLE" } });
  });

  test("an answer that is no JSON, or not of the right shape, is an error and not a crash", async () => {
    const { url } = await serve(({ url: { pathname } }) => {
      if (pathname.endsWith("/auth/token")) return TOKEN_ANSWER;
      if (pathname.endsWith("/whoami")) return { json: { user: 1 } };
      return (response) => response.end("<html>");
    });
    const env = await homeFor(url);
    expect((await fairlead(["whoami"], { env })).err).toMatch(/answer to .*whoami is not understood at user/);
    expect((await fairlead(["console"], { env })).err).toMatch(/is not JSON/);
  });
});

describe("text of the CLI (USE-2)", () => {
  test("colours are for terminals, and NO_COLOR turns them off", () => {
    const paint = (isTTY: boolean, NO_COLOR?: string) =>
      paintFor({ env: { NO_COLOR }, stdout: { write: () => undefined, isTTY } })("red", "x");
    expect(paint(true)).toBe("\u001b[31mx\u001b[39m");
    expect(paint(true, "")).toBe("\u001b[31mx\u001b[39m");
    expect(paint(true, "1")).toBe("x");
    expect(paint(false)).toBe("x");
  });

  test("tables and fields line up, and hold no control characters", () => {
    expect(
      table(
        ["A", "LONG"],
        [
          ["one", "x\u001b[31m"],
          ["2", ""],
        ],
      ),
    ).toBe("A    LONG\none  x\ufffd[31m\n2");
    expect(
      fields([
        ["a", "1"],
        ["long", "2"],
        ["none", null],
      ]),
    ).toBe("a     1\nlong  2");
    expect(printable("a\u202eb\u009bc")).toBe("a\ufffdb\ufffdc");
  });
});
