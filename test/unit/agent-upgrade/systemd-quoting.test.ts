import { describe, expect, it } from "vitest";
import { dropInText, type Launch, launchOf } from "../../../src/agent/upgrade/adapters/systemd/drop-in.ts";
import { RunSpec } from "../../../src/core/upgrade/job.ts";
import { digestOf } from "../../../src/trust/digest.ts";

const PROGRAM = { install_path: "/opt/hello/bin/hello", env: { PORT: "8000" }, stop_grace_ms: 5_000 };

const launch = (run: Partial<RunSpec>): Launch => ({
  instance_id: "rollout.forward.1.1",
  key: "rollout.forward.1",
  fingerprint: digestOf("bytes"),
  run: { ...RunSpec.parse({}), ...run },
});

const linesOf = (run: Partial<RunSpec>): string[] => dropInText(launch(run), PROGRAM).split("\n").slice(2);

describe("the drop-in of a unit", () => {
  it("ROLL-8: replaces the command, adds the environment with the machine's own first, and sets the user", () => {
    expect(linesOf({ args: ["--home", "/data"], env: { LEVEL: "2", PORT: "9000" }, user: "hello" })).toEqual([
      "[Service]",
      "ExecStart=",
      'ExecStart="/opt/hello/bin/hello" "--home" "/data"',
      'Environment="PORT=9000"',
      'Environment="LEVEL=2"',
      'Environment="FAIRLEAD_INSTANCE_ID=rollout.forward.1.1"',
      "TimeoutStopSec=5000ms",
      "User=hello",
      "",
    ]);
  });

  it("ROLL-8: never lets a stop wait for ever, which is what systemd makes of no time", () => {
    const text = dropInText(launch({}), { ...PROGRAM, stop_grace_ms: 0 });
    expect(text).toContain("TimeoutStopSec=1ms\n");
  });

  it("ROLL-8: leaves the unit's user alone when none is signed", () => {
    expect(linesOf({}).some((line) => line.startsWith("User="))).toBe(false);
  });

  it.each([
    ["a percent sign", "100%", '"100%%"'],
    ["a dollar", "$HOME", '"$$HOME"'],
    ["a double quote", 'a"b', '"a\\"b"'],
    ["a backslash at the end", "a\\", '"a\\\\"'],
    ["a separator of commands", ";", '";"'],
    ["nothing", "", '""'],
    ["a comment's sign", "# x", '"# x"'],
  ])("ROLL-8: writes an argument with %s so that systemd reads it back", (_, value, written) => {
    expect(linesOf({ args: [value] })[2]).toBe(`ExecStart="/opt/hello/bin/hello" ${written}`);
  });

  it("ROLL-8: looks for no variables in an environment value, so a dollar stays single there", () => {
    expect(linesOf({ env: { PRICE: "$5 %" } })).toContain('Environment="PRICE=$5 %%"');
  });

  it.each([
    ["a newline", "a\nExecStartPre=/bin/sh"],
    ["a carriage return", "a\rb"],
    ["NUL", "a\0b"],
    ["DEL", "a\x7fb"],
    ["half of a character", "a\ud800"],
    ["a code point that is no character", "a\ufffe"],
  ])("ROLL-8: refuses %s, in an argument and in the environment", (_, value) => {
    for (const run of [{ args: [value] }, { env: { A: value } }]) {
      expect(() => dropInText(launch(run), PROGRAM)).toThrow(
        expect.objectContaining({ code: "INVALID_INPUT" }),
      );
    }
  });

  it("ROLL-8: refuses a command that is longer than systemd reads", () => {
    const args = Array.from({ length: 256 }, () => "%".repeat(4096));
    expect(() => dropInText(launch({ args }), PROGRAM)).toThrow(
      expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }),
    );
  });

  it("ROLL-8: refuses a run whose lines are short enough but whose own first line is not", () => {
    const env = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`V${n}`, "x".repeat(4_000)]));
    expect(() => dropInText(launch({ env }), PROGRAM)).toThrow(
      expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }),
    );
  });

  it("says again what it was written for, and is nobody's when it does not", () => {
    const written = launch({ args: ["a b", "\\"], env: { A: "'\"" } });
    expect(launchOf(dropInText(written, PROGRAM))).toEqual(written);
    expect(launchOf("[Service]\nExecStart=/bin/true\n")).toBeUndefined();
    expect(() => launchOf("# fairlead-launch {}\n")).toThrow(/changed by hand/);
  });
});
