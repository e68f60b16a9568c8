import { describe, expect, it } from "vitest";
import { cloneAsItWas, cloneFor, type Wanted } from "../../../src/agent/upgrade/adapters/docker/clone.ts";
import { isRunAs, LABELS, runOf } from "../../../src/agent/upgrade/adapters/docker/labels.ts";
import { Container, Image } from "../../../src/agent/upgrade/adapters/docker/schemas.ts";
import { RunSpec } from "../../../src/core/upgrade/job.ts";

const ID = "0123456789abcdef".repeat(4);
const ALWAYS = { Name: "always", MaximumRetryCount: 0 };

const OFF = {
  Status: "exited",
  Running: false,
  Paused: false,
  Restarting: false,
  OOMKilled: false,
  Pid: 0,
  ExitCode: 0,
  StartedAt: "0001-01-01T00:00:00Z",
  FinishedAt: "0001-01-01T00:00:00Z",
};

const container = (config: object = {}, more: object = {}): Container =>
  Container.parse({
    Id: ID,
    Name: "/app",
    Image: `sha256:${"c".repeat(64)}`,
    State: OFF,
    Config: { Image: "r/app:1", Hostname: ID.slice(0, 12), ...config },
    HostConfig: { RestartPolicy: ALWAYS },
    NetworkSettings: { Networks: {} },
    ...more,
  });
const image = (config: object = {}): Image =>
  Image.parse({ Id: "sha256:c", RepoDigests: [], Config: config });
const run = (more: object = {}): RunSpec => RunSpec.parse(more);
const wanted = (more: Partial<Wanted> = {}): Wanted => ({
  profile: "hello",
  key: "k.forward.1",
  instance_id: "k.forward.1.1",
  image: `r/app@sha256:${"d".repeat(64)}`,
  run: run(),
  env: {},
  provisioned: run(),
  replaced: ID,
  restart: ALWAYS,
  ...more,
});

describe("a container for another image", () => {
  it("ROLL-8: gets the signed arguments, or the new image's own", () => {
    const old = container({ Cmd: ["--old"] });
    expect(cloneFor(old, image(), wanted())).not.toHaveProperty("Cmd");
    expect(cloneFor(old, image(), wanted({ run: run({ args: ["--new"] }) }))).toMatchObject({
      Cmd: ["--new"],
    });
  });

  it("ROLL-8: gets the machine's environment, then the local config's, then the signed one, then who it is", () => {
    const old = container({
      Env: ["A=machine", "B=machine", "C=machine", "FAIRLEAD_INSTANCE_ID=old", "I=image"],
    });
    const change = wanted({ env: { B: "local", C: "local" }, run: run({ env: { C: "signed" } }) });
    const { Env } = cloneFor(old, image({ Env: ["I=image"] }), change);
    expect(Env).toEqual(["A=machine", "B=local", "C=signed", "FAIRLEAD_INSTANCE_ID=k.forward.1.1"]);
  });

  it("ROLL-8: hands on an operator's variable that only looks like the image's", () => {
    const old = container({ Env: ["LEVEL=operator"] });
    expect(cloneFor(old, image({ Env: ["LEVEL=image"] }), wanted())).toMatchObject({
      Env: ["LEVEL=operator", "FAIRLEAD_INSTANCE_ID=k.forward.1.1"],
    });
  });

  it("ROLL-8: does not hand on what the image declared", () => {
    const settings = {
      Entrypoint: ["/old"],
      WorkingDir: "/old",
      User: "old",
      StopSignal: "SIGINT",
      Labels: { a: "1" },
    };
    const made = cloneFor(container(settings), image(settings), wanted());
    for (const name of Object.keys(settings).filter((key) => key !== "Labels"))
      expect(made).not.toHaveProperty(name);
    expect(made["Labels"]).not.toHaveProperty("a");
  });

  it("ROLL-8: forgets a user and variables that an earlier run brought", () => {
    const first = cloneFor(
      container({ User: "1000" }),
      image(),
      wanted({ run: run({ user: "app", env: { ONCE: "1" } }) }),
    );
    expect(first).toMatchObject({ User: "app" });
    const second = cloneFor(container({ ...first, Hostname: "" }), image(), wanted());
    expect(second).toMatchObject({ User: "1000", Env: ["FAIRLEAD_INSTANCE_ID=k.forward.1.1"] });
  });

  it("ROLL-8: tells its run by its labels, which hold no variable's value", () => {
    const signed = run({ args: ["--x"], user: "app", env: { TOKEN: "s3cret=1", EMPTY: "" } });
    const made = cloneFor(container({ Env: ["PASSWORD=hunter2"] }), image(), wanted({ run: signed }));
    expect(JSON.stringify(made["Labels"])).not.toMatch(/s3cret|hunter2/);
    expect(runOf(container(made), run())).toEqual(signed);
    expect(runOf(container(), signed)).toEqual(signed);
    expect(isRunAs(container(made), run(), signed)).toBe(true);
    expect(
      isRunAs(container(made), run(), { ...signed, env: { ...signed.env, FAIRLEAD_INSTANCE_ID: "me" } }),
    ).toBe(true);
    expect(isRunAs(container(made), run(), { ...signed, env: { TOKEN: "s3cret=1" } })).toBe(false);
    expect(runOf(container({ Labels: { [LABELS.run]: "{broken" } }), signed)).toEqual(signed);
  });

  it("ROLL-8: comes without a restart policy, and remembers the one it is to get", () => {
    const made = cloneFor(container(), image(), wanted());
    expect(made).toMatchObject({ HostConfig: { RestartPolicy: { Name: "no" } } });
    const labels = made["Labels"] as Record<string, string>;
    expect(JSON.parse(labels[LABELS.machine]!)).toMatchObject({ restart: ALWAYS });
    expect(labels[LABELS.replaced]).toBe(ID);
  });

  it("ROLL-8: keeps its host name unless the engine made that up, and data of unnamed volumes", () => {
    expect(cloneFor(container(), image(), wanted())).not.toHaveProperty("Hostname");
    expect(cloneFor(container({ Hostname: "validator" }), image(), wanted())).toMatchObject({
      Hostname: "validator",
    });
    const mounts = [
      { Type: "volume", Name: "f".repeat(64), Destination: "/data", RW: true },
      { Type: "volume", Name: "named", Destination: "/named", RW: true },
      { Type: "bind", Destination: "/etc/app", RW: false },
    ];
    const host = { RestartPolicy: ALWAYS, Binds: ["named:/named", "/etc/app:/etc/app:ro"] };
    const made = cloneFor(container({}, { Mounts: mounts, HostConfig: host }), image(), wanted());
    expect(made).toMatchObject({ HostConfig: { Binds: [...host.Binds, `${"f".repeat(64)}:/data`] } });
  });

  it("takes nothing over that it does not know", () => {
    const made = cloneFor(
      container({ Future: "x" }, { HostConfig: { RestartPolicy: ALWAYS, Future: "x", AutoRemove: true } }),
      image(),
      wanted(),
    );
    expect(JSON.stringify(made)).not.toMatch(/Future|AutoRemove/);
  });

  it("ROLL-9: is as it was when it is made again, labels of others that only look like ours too", () => {
    const old = container({ Env: ["A=1"], User: "7", Cmd: ["x"], Labels: { [LABELS.run]: "{broken" } });
    expect(cloneAsItWas(old, "r/app:1", ALWAYS)).toMatchObject({
      Env: ["A=1"],
      User: "7",
      Cmd: ["x"],
      Labels: { [LABELS.run]: "{broken" },
      HostConfig: { RestartPolicy: ALWAYS },
    });
  });
});
