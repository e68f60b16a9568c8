import fc from "fast-check";
import { expect, test } from "vitest";
import { normalize } from "node:path/posix";
import { ConfigPath, ConfigRef, jobKey, RunSpec } from "../../../src/core/upgrade/job.ts";
import { RolloutId } from "../../../src/core/ids.ts";

const takesPath = (path: unknown): boolean => ConfigPath.safeParse(path).success;
const takesRun = (run: object): boolean => RunSpec.safeParse(run).success;

test.each(["app.conf", "conf.d/10-a.conf", "_x", "a/b/c.d-e_f"])("%s is a config's path", (path) => {
  expect(takesPath(path)).toBe(true);
});

test.each([
  ["a way out", "../app.conf"],
  ["a way out in the middle", "a/../../b"],
  ["dots alone", ".."],
  ["a dot", "."],
  ["an absolute path", "/etc/passwd"],
  ["NUL", "a\0b"],
  ["a newline at its end", "a\n"],
  ["a backslash", "a\\..\\b"],
  ["a hidden file", ".ssh/authorized_keys"],
  ["a hidden file in a folder", "a/.upgrade-backup"],
  ["two slashes", "a//b"],
  ["a slash at its end", "a/"],
  ["nothing", ""],
  ["white space", "a b"],
  ["256 characters", "x".repeat(256)],
])("a config's path with %s is refused", (_, path) => {
  expect(takesPath(path)).toBe(false);
});

test("whatever path is taken stays where it is put", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(fc.constantFrom("..", ".", "a", "b.c", "", "\0")).map((p) => p.join("/")),
      ),
      (path) => {
        if (takesPath(path)) expect(normalize(`/base/${path}`)).toBe(`/base/${path}`);
      },
    ),
  );
});

test.each(["644", "00644", "1644", "0844", "4755", "0o644", ""])(
  "the mode %s is refused: permissions only, as octal text",
  (mode) => {
    const sha256 = `sha256:${"a".repeat(64)}`;
    expect(ConfigRef.safeParse({ path: "a", mode: "0640", sha256 }).success).toBe(true);
    expect(ConfigRef.safeParse({ path: "a", mode, sha256 }).success).toBe(false);
  },
);

test("a run spec without anything is complete: no arguments, no environment, the same user", () => {
  expect(RunSpec.parse({})).toEqual({ args: [], env: {}, user: null });
});

test.each<[string, object]>([
  ["a control character in an argument", { args: ["a\u0007"] }],
  ["a newline in an argument", { args: ["a\nb"] }],
  ["NUL in a value", { env: { A: "a\0" } }],
  ["a name with =", { env: { "A=B": "c" } }],
  ["a name with a digit in front", { env: { "1A": "c" } }],
  ["a user that is an option", { user: "-x" }],
  ["a user with a colon", { user: "root:root" }],
  ["a field too many", { shell: true }],
])("a run spec with %s is refused", (_, run) => {
  expect(takesRun({ args: ["--flag=ä"], env: { PATH_2: "/bin" }, user: "app" })).toBe(true);
  expect(takesRun(run)).toBe(false);
});

test("a job's key names rollout, direction and attempt", () => {
  const rollout_id = RolloutId.parse("0b1c2d3e-4f50-4617-8899-aabbccddeeff");
  expect(jobKey({ rollout_id, direction: "reverse", attempt: 2 })).toBe(`${rollout_id}.reverse.2`);
});
