import { describe, expect, it } from "vitest";
import { ProgramConfig, ProgramsConfig } from "../../../src/agent/programs/config.ts";
import { parsePasswd } from "../../../src/agent/programs/user.ts";
import { ConfigPath, UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { UpgradeId } from "../../../src/core/ids.ts";

const PLAIN = {
  install_path: "/opt/hello/bin/hello",
  data_dir: "/var/lib/hello",
  config_dir: "/etc/hello",
  health: { url: "http://127.0.0.1:8080/healthz" },
};

describe("a program's config", () => {
  it("needs its places and its probe, and fills in the rest", () => {
    expect(ProgramConfig.parse(PLAIN)).toMatchObject({
      runtime: "process",
      artifact_origins: [],
      stop_grace_ms: 10_000,
      run: { args: [], env: {}, user: null },
    });
  });

  it.each([
    ["a relative path", { install_path: "bin/hello" }],
    ["a path that climbs", { data_dir: "/var/lib/../../etc" }],
    ["a trailing slash", { config_dir: "/etc/hello/" }],
    ["NUL in a path", { install_path: "/opt/hello\0/bin" }],
    ["a probe elsewhere", { health: { url: "http://10.0.0.1/healthz" } }],
    ["a probe by name", { health: { url: "http://example.org/" } }],
    ["a probe that is not http", { health: { url: "file:///etc/passwd" } }],
    ["an origin with a path", { artifact_origins: ["https://host/path"] }],
    ["an origin that is a file", { artifact_origins: ["file://"] }],
    ["an unknown runtime", { runtime: "podman" }],
    ["an unknown field", { run_as: "root" }],
    ["a stop that outlives its budget", { stop_grace_ms: 60_000 }],
  ])("refuses %s", (_, change) => {
    expect(ProgramConfig.safeParse({ ...PLAIN, ...change }).success).toBe(false);
  });

  it.each(["validator.service", "a-b_c.1.service", "node@eu-1.service"])(
    "ROLL-8: takes the unit %s",
    (unit) => expect(ProgramConfig.safeParse({ ...PLAIN, runtime: "systemd", unit }).success).toBe(true),
  );

  it.each([
    ["no unit", {}],
    ["an option in place of a unit", { unit: "--now.service" }],
    ["a path in place of a unit", { unit: "../x.service" }],
    ["a pattern in place of a unit", { unit: "*.service" }],
    ["two units", { unit: "a.service b.service" }],
    ["a template without its instance", { unit: "node@.service" }],
    ["a unit that runs nothing", { unit: "hello.socket" }],
    ["a file that systemd would read otherwise", { unit: "a.service", install_path: "/opt/$HOME/hello" }],
    ["a container beside the unit", { unit: "a.service", container: "hello" }],
  ])("ROLL-8: refuses %s for systemd", (_, change) => {
    expect(ProgramConfig.safeParse({ ...PLAIN, runtime: "systemd", ...change }).success).toBe(false);
  });

  it.each([
    "http://127.0.0.1:80/",
    "http://127.9.9.9/",
    "http://[::1]:9/",
    "http://localhost:1/",
    "http://2130706433/",
  ])("takes loopback in every spelling for a probe: %s", (url) =>
    expect(ProgramConfig.safeParse({ ...PLAIN, health: { url } }).success).toBe(true),
  );
});

describe("names from outside that become paths", () => {
  it.each(["../../etc", "..", ".hidden", "a/b", "/etc", "a\0b", ""])(
    "ROLL-9: upgrade_id %j is refused",
    (id) => {
      expect(UpgradeId.safeParse(id).success).toBe(false);
      expect(UpgradeJob.shape.upgrade_id.safeParse(id).success).toBe(false);
    },
  );

  it.each(["../x", "/etc/passwd", "a/../b", "a//b", ".ssh/key", "a\0b", "a/"])(
    "config path %j is refused",
    (path) => {
      expect(ConfigPath.safeParse(path).success).toBe(false);
    },
  );

  it("and plain ones are taken", () => {
    expect(UpgradeId.safeParse("to-2.0_rc1").success).toBe(true);
    expect(ConfigPath.safeParse("conf.d/app.toml").success).toBe(true);
  });
});

it("reads accounts, and skips lines that are none", () => {
  expect(
    parsePasswd("root:x:0:0:root:/root:/bin/sh\n# comment\nnode:x:12:34::/home/node:\nbad:x:a:b::/:\n"),
  ).toEqual([
    { name: "root", uid: 0, gid: 0, home: "/root" },
    { name: "node", uid: 12, gid: 34, home: "/home/node" },
  ]);
});

describe("several programs of one machine", () => {
  const second = { ...PLAIN, install_path: "/opt/b/bin/b", data_dir: "/var/lib/b", config_dir: "/etc/b" };
  const takes = (b: object, a: object = PLAIN): boolean => ProgramsConfig.safeParse({ a, b }).success;

  it("ROLL-28: two programs with places of their own are taken", () => {
    expect(takes(second)).toBe(true);
    const unit = { runtime: "systemd", unit: "a.service" };
    expect(takes({ ...second, ...unit, unit: "b.service" }, { ...PLAIN, ...unit })).toBe(true);
  });

  it.each(["install_path", "data_dir", "config_dir"] as const)(
    "ROLL-28: two programs with the same %s are refused, with the field",
    (place) => {
      const parsed = ProgramsConfig.safeParse({ a: PLAIN, b: { ...second, [place]: PLAIN[place] } });
      expect(parsed.error?.issues).toMatchObject([
        { path: ["b", place], message: `a has the same ${place}` },
      ]);
    },
  );

  it("ROLL-28: two programs of one unit or one container are refused", () => {
    const unit = { runtime: "systemd", unit: "a.service" };
    expect(takes({ ...second, ...unit }, { ...PLAIN, ...unit })).toBe(false);
    const { install_path: _a, ...first } = PLAIN;
    const { install_path: _b, ...other } = second;
    const container = { runtime: "docker", container: "node" };
    expect(takes({ ...other, ...container }, { ...first, ...container })).toBe(false);
    expect(takes({ ...other, ...container, container: "other" }, { ...first, ...container })).toBe(true);
  });
});
