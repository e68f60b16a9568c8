// A unit that Fairlead never started is adopted only as the local config describes it.
import { expect, test } from "vitest";
import { SystemdProgram } from "../../../src/agent/programs/config.ts";
import { expectAdoptable } from "../../../src/agent/upgrade/adapters/systemd/provisioned.ts";
import { parseUnitState } from "../../../src/agent/upgrade/adapters/systemd/unit-state.ts";
import { codeOf, refusalOf } from "../../support/refusals.ts";

const programWith = (...args: string[]) =>
  SystemdProgram.parse({
    runtime: "systemd",
    unit: "hello.service",
    install_path: "/opt/hello/hello",
    data_dir: "/var/lib/hello",
    config_dir: "/etc/hello",
    health: { url: "http://127.0.0.1:1/health" },
    run: { args },
  });
const unitWith = (...commands: string[]) => ({ ...parseUnitState("LoadState=loaded"), commands });
const check = (args: string[], commands: string[]) => () =>
  expectAdoptable(programWith(...args), unitWith(...commands));

test("a unit that runs the configured command is adopted", () => {
  expect(codeOf(check(["--port", "1"], ["/opt/hello/hello --port 1"]))).toBe("accepted");
  expect(codeOf(check([], ["/opt/hello/hello"]))).toBe("accepted");
});

test.each<[string, string[], string[]]>([
  ["another command", [], ["/opt/other"]],
  ["other arguments", ["--port", "1"], ["/opt/hello/hello --port 2"]],
  ["two commands", [], ["/opt/hello/hello", "/opt/hello/hello"]],
  ["a variable", ["$PORT"], ["/opt/hello/hello $PORT"]],
])("UNIT_DIFFERS for a unit with %s", (_, args, commands) => {
  expect(codeOf(check(args, commands))).toBe("UNIT_DIFFERS");
});

test("the refusal says what the unit runs and what the config says", () => {
  const says = 'the agent\'s config says "/opt/hello/hello"';
  expect(refusalOf(check([], ["/a", "/b"])).message).toBe(`hello.service runs "/a" and "/b", ${says}`);
  expect(refusalOf(check([], [])).message).toBe(`hello.service runs nothing, ${says}`);
});
