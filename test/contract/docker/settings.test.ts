/** What a container keeps when another takes its place, and what it does not. */
import { chown, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Inspected, inspected } from "../../support/docker/containers.ts";
import { helloScript } from "../../support/docker/hello-script.ts";
import { type HelloImages, helloImages } from "../../support/docker/hello-images.ts";
import { call, pushImage, REPOSITORY } from "../../support/docker/images.ts";
import { type DockerLab, dockerLab } from "../../support/docker/lab.ts";
import { type DockerMachine, dockerMachine } from "../../support/docker/machine.ts";

/** Everything an operator may have set that this machine's kernel lets a container have. */
const HOST = {
  RestartPolicy: { Name: "on-failure", MaximumRetryCount: 7 },
  Mounts: [{ Type: "volume", Source: "named", Target: "/named" }],
  Tmpfs: { "/scratch": "size=1m" },
  PortBindings: { "8080/tcp": [{ HostIp: "127.0.0.1", HostPort: "18080" }] },
  Dns: ["192.0.2.53"],
  DnsOptions: ["timeout:1"],
  DnsSearch: ["example.test"],
  ExtraHosts: ["peer:192.0.2.7"],
  CapAdd: ["NET_ADMIN"],
  CapDrop: ["MKNOD"],
  GroupAdd: ["1234"],
  SecurityOpt: ["no-new-privileges"],
  Memory: 64 * 1024 * 1024,
  MemoryReservation: 32 * 1024 * 1024,
  NanoCpus: 500_000_000,
  CpuShares: 512,
  PidsLimit: 64,
  Ulimits: [{ Name: "nofile", Soft: 512, Hard: 1024 }],
  ShmSize: 8 * 1024 * 1024,
  OomScoreAdj: 100,
  Devices: [{ PathOnHost: "/dev/null", PathInContainer: "/dev/nothing", CgroupPermissions: "r" }],
  LogConfig: { Type: "json-file", Config: { "max-size": "1m" } },
  IpcMode: "private",
  MaskedPaths: ["/proc/kcore"],
  ReadonlyPaths: ["/proc/bus"],
};

const CONFIG = {
  Labels: { team: "storage", shared: "operator's" },
  StopSignal: "SIGINT",
  StopTimeout: 3,
  WorkingDir: "/tmp",
  ExposedPorts: { "8080/tcp": {} },
  Healthcheck: { Test: ["CMD", "/bin/busybox", "true"], Interval: 60_000_000_000 },
};

describe("a container that takes another's place", () => {
  let lab: DockerLab;
  let images: HelloImages;
  let m: DockerMachine;
  beforeAll(async () => {
    lab = await dockerLab();
    images = await helloImages(lab);
  });
  afterAll(async () => lab.close());
  afterEach(async () => m.close());

  const containerNow = async () => inspected(lab.api, m.program.container);

  it("ROLL-8: has every setting that the operator gave the first one", async () => {
    m = await dockerMachine(lab, images, { config: CONFIG, host: HOST });
    await m.provision("1.0.0");
    const before = await containerNow();
    expect(await m.upgrade(m.job({ version: "2.0.0" }))).toMatchObject({ verdict: "COMPLETED" });
    const after = await containerNow();
    expect(after.HostConfig).toEqual(before.HostConfig);
    expect(after.Config).toMatchObject({ ...CONFIG, Image: `${REPOSITORY}@${images.digestOf("2.0.0")}` });
    const destinations = ({ Mounts }: Inspected) => Mounts.map(({ Destination }) => Destination).toSorted();
    expect(destinations(after)).toEqual(destinations(before));
    expect(after.State).toMatchObject({ Running: true });
  });

  it("ROLL-8: has it again after an upgrade that was taken back, the restart policy too", async () => {
    m = await dockerMachine(lab, images, { config: CONFIG, host: HOST });
    await m.provision("1.0.0");
    const before = await containerNow();
    const outcome = await m.upgrade(m.job({ version: "2.0.0", crashing: true }));
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ verdict: "FAILED" });
    const after = await containerNow();
    expect(after.Id).toBe(before.Id);
    expect(after.HostConfig).toEqual(before.HostConfig);
  });

  it("ROLL-8: keeps what the image said to the image, and data in volumes that it declared", async () => {
    const changes = ["ENV FLAVOUR=old", "LABEL shared=image", "VOLUME /var/state", "USER 0"];
    const old = await pushImage(lab.api, { tag: "old", program: helloScript("1.0.0"), changes });
    m = await dockerMachine(lab, images, { config: { Env: ["MACHINE=this"] } });
    await m.provision("1.0.0", {}, old);
    const before = await containerNow();
    expect(before.Config.Env).toContain("FLAVOUR=old");
    await m.upgrade(m.job({ version: "2.0.0" }));
    const after = await containerNow();
    expect(after.Config.Env).toContain("MACHINE=this");
    expect(after.Config.Env).not.toContain("FLAVOUR=old");
    expect(after.Config.Labels["shared"]).toBeUndefined();
    const volume = ({ Mounts }: Inspected) =>
      Mounts.find(({ Destination }) => Destination === "/var/state")?.Name;
    expect(volume(after)).toBe(volume(before));
  });

  it("ROLL-8: runs with the signed arguments, environment and user, and nothing of an earlier run's", async () => {
    m = await dockerMachine(lab, images, { config: { Env: ["MACHINE=this"] } });
    await m.provision("1.0.0");
    const first = m.job({ version: "2.0.0", env: { ONLY_ONCE: "1" } });
    const run = { ...first.run, args: ["--level", "2"], user: "root" };
    expect(await m.upgrade({ ...first, run })).toMatchObject({ verdict: "COMPLETED" });
    const signed = await containerNow();
    expect(signed.Args).toEqual(["--level", "2"]);
    expect(signed.Config).toMatchObject({
      User: "root",
      Env: expect.arrayContaining(["ONLY_ONCE=1", "MACHINE=this"]) as string[],
    });

    await m.upgrade(m.job({ version: "3.0.0" }));
    const next = await containerNow();
    expect(next.Args).toEqual([]);
    expect(next.Config.User).toBe("");
    expect(next.Config.Env).toContain("MACHINE=this");
    expect(next.Config.Env).not.toContain("ONLY_ONCE=1");
  });

  it("ROLL-8: a change of the run alone gives a new container of the same image, and is taken back like any other", async () => {
    m = await dockerMachine(lab, images);
    await m.provision("1.0.0");
    const before = await containerNow();
    expect(await m.upgrade(m.job({ version: "1.0.0", env: { LEVEL: "2" } }))).toMatchObject({
      verdict: "COMPLETED",
    });
    const after = await containerNow();
    expect(after).toMatchObject({
      Image: before.Image,
      Config: { Env: expect.arrayContaining(["LEVEL=2"]) as string[] },
    });
    expect(after.Id).not.toBe(before.Id);
    expect(await m.upgrade(m.job({ version: "1.0.0", env: { CRASH: "start" } }))).toMatchObject({
      verdict: "FAILED",
    });
    expect((await containerNow()).Id).toBe(after.Id);
  });

  it("ROLL-8: is on the same networks, under the same names and addresses", async () => {
    for (const [name, Subnet] of [
      ["front", "10.91.0.0/24"],
      ["back", "10.92.0.0/24"],
    ]) {
      await call(lab.api, "POST", "/networks/create", {
        json: { Name: name, IPAM: { Config: [{ Subnet }] } },
      });
    }
    m = await dockerMachine(lab, images, {
      host: { NetworkMode: "front" },
      config: {
        Hostname: "validator",
        NetworkingConfig: {
          EndpointsConfig: { front: { Aliases: ["hello"], IPAMConfig: { IPv4Address: "10.91.0.9" } } },
        },
      },
      answers: false,
    });
    await m.provision("1.0.0");
    const json = { Container: m.program.container, EndpointConfig: { Aliases: ["hello-back"] } };
    await call(lab.api, "POST", "/networks/back/connect", { json });
    expect(await m.upgrade(m.job({ version: "2.0.0" }))).toMatchObject({ verdict: "COMPLETED", error: null });
    const { Config, NetworkSettings } = await containerNow();
    expect(Config.Hostname).toBe("validator");
    expect(NetworkSettings.Networks).toMatchObject({
      front: { IPAddress: "10.91.0.9", Aliases: expect.arrayContaining(["hello"]) as string[] },
      back: { Aliases: expect.arrayContaining(["hello-back"]) as string[] },
    });
  });

  it("ROLL-8: is not made at all when the engine would remove the old one as soon as it stops", async () => {
    m = await dockerMachine(lab, images, { host: { AutoRemove: true, RestartPolicy: { Name: "no" } } });
    await m.provision("1.0.0");
    expect(await m.upgrade(m.job({ version: "2.0.0" }))).toMatchObject({
      verdict: "FAILED",
      error: { action: "backup_state", code: "ACTION_FAILED" },
    });
    expect((await m.version()).version).toBe("1.0.0");
  });

  it("ROLL-17: its config files belong to whoever owns their folder: its user lives in the image, not on the machine", async () => {
    m = await dockerMachine(lab, images);
    await m.provision("1.0.0");
    await chown(m.program.config_dir, 4321, 4322);
    const job = m.job({ version: "2.0.0", configs: { "app.toml": "level = 2\n" } });
    expect(await m.upgrade({ ...job, run: { ...job.run, user: "root" } })).toMatchObject({
      verdict: "COMPLETED",
    });
    const { uid, gid, mode } = await stat(join(m.program.config_dir, "app.toml"));
    expect([uid, gid, mode & 0o777]).toEqual([4321, 4322, 0o640]);
  });

  it("ROLL-16: a program that crashes is restarted by its policy, and the restarts are told", async () => {
    m = await dockerMachine(lab, images);
    await m.provision("1.0.0");
    const job = m.job({ version: "2.0.0", env: { CRASH: "later" } });
    expect(await m.upgrade(job)).toMatchObject({ verdict: "COMPLETED" });
    await expect
      .poll(async () => (await m.adapter().supervision()).restarts, { timeout: 20_000 })
      .toBeGreaterThan(0);
    const { last_exit, restarted_at } = await m.adapter().supervision();
    expect(last_exit).toMatchObject({ code: 7, signal: null });
    expect(restarted_at).toHaveLength(1);
  });
});
