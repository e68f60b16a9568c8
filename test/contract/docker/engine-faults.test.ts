/** An engine that hangs, is restarted or is tidied up by somebody else in the middle of an upgrade. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openEngine } from "../../../src/agent/upgrade/adapters/docker/engine.ts";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import { containersOf, inspected } from "../../support/docker/containers.ts";
import { type HelloImages, helloImages } from "../../support/docker/hello-images.ts";
import { call, REPOSITORY } from "../../support/docker/images.ts";
import { type DockerLab, dockerLab } from "../../support/docker/lab.ts";
import { type DockerMachine, dockerMachine } from "../../support/docker/machine.ts";
import { type StopPoint, stoppingEngine, type StoppingEngine } from "../../support/docker/stopping-engine.ts";
import { never } from "../../support/programs/contract-machine.ts";
import { around, failingOnce } from "../../support/programs/failing-adapter.ts";

const BEFORE = { "app.toml": "level = 1\n" };
const AFTER = { "app.toml": "level = 2\n" };
const PATIENCE_MS = 1_000;

describe("an engine in the middle of an upgrade", () => {
  let lab: DockerLab;
  let images: HelloImages;
  let m: DockerMachine;
  let hanging: StoppingEngine | undefined;
  beforeAll(async () => {
    lab = await dockerLab();
    images = await helloImages(lab);
  });
  afterAll(async () => lab.close());
  beforeEach(async () => {
    m = await dockerMachine(lab, images);
    await m.provision("1.0.0", BEFORE);
  });
  afterEach(async () => {
    await hanging?.close();
    hanging = undefined;
    await m.close();
  });

  async function hangingAdapter(point: StopPoint): Promise<RuntimeAdapter> {
    const path = join(m.root, "hanging.sock");
    hanging = await stoppingEngine(path, lab.socketPath, point);
    const engine = openEngine(path, { timeoutMs: PATIENCE_MS, changeTimeoutMs: PATIENCE_MS });
    return m.adapter(undefined, { engine, engineWaitMs: PATIENCE_MS });
  }

  async function expectUntouched(): Promise<void> {
    expect(await m.installed()).toBe(images.digestOf("1.0.0"));
    expect(await m.configs()).toEqual(BEFORE);
    expect((await m.version()).version).toBe("1.0.0");
    expect(await m.leftOver()).toEqual([]);
  }

  it("ROLL-5: that never answers is given up on before anything was stopped", async () => {
    const adapter = await hangingAdapter({ at: /^GET /, when: "before" });
    expect(await m.upgrade(m.job({ version: "2.0.0", configs: AFTER }), { adapter })).toMatchObject({
      verdict: "FAILED",
      error: { code: "RUNTIME_UNRESPONSIVE", action: "backup_state" },
    });
    await expect(adapter.supervision()).rejects.toMatchObject({ code: "RUNTIME_UNRESPONSIVE" });
    await expectUntouched();
    expect(await m.starts()).toHaveLength(1);
  });

  it.each([
    ["sets the old container aside", /rename/, "install_artifact"],
    ["makes the new container", /containers\/create/, "install_artifact"],
    ["starts it", /start$/, "start_node"],
  ] as const)("ROLL-5: that %s and does not say so leads back to where it began", async (_, at, action) => {
    const adapter = await hangingAdapter({ at, when: "after", once: true });
    expect(await m.upgrade(m.job({ version: "2.0.0", configs: AFTER }), { adapter })).toMatchObject({
      verdict: "FAILED",
      compensated: true,
      error: { code: "RUNTIME_UNRESPONSIVE", action },
    });
    await expectUntouched();
  });

  it("ROLL-5: that hangs for good leaves a profile that is held, and nothing that runs", async () => {
    const adapter = await hangingAdapter({ at: /rename/, when: "before" });
    expect(await m.upgrade(m.job({ version: "2.0.0" }), { adapter })).toMatchObject({
      verdict: "FAILED_ROLLBACK",
    });
    expect(await m.adapter().isRunning()).toBe(false);
  });

  it.each(["SIGTERM", "SIGKILL"] as const)(
    "ROLL-5: that is restarted (%s) is waited for, and brings up nothing by itself",
    async (signal) => {
      const adapter = around(m.adapter(), "install", async (work) => {
        await lab.stopEngine(signal);
        await Promise.all([work(), lab.startEngine()]);
        // With `always` the old one would have come up with the engine.
        const { all } = await containersOf(lab.api, m.program.container);
        expect(all.map(({ State }) => State)).toEqual(["created", "exited"]);
      });
      const outcome = await m.upgrade(m.job({ version: "2.0.0", configs: AFTER }), { adapter });
      expect(outcome).toMatchObject({ verdict: "COMPLETED", error: null });
      expect((await m.version()).version).toBe("2.0.0");
      expect(await m.starts()).toHaveLength(2);
    },
  );

  it("ROLL-9: that was tidied by somebody gets the old container again from the backup", async () => {
    const before = await inspected(lab.api, m.program.container);
    const adapter = failingOnce(
      around(m.adapter(), "writeConfig", async (work) => {
        await call(lab.api, "POST", `/containers/prune`);
        return work();
      }),
      "reload",
      "before",
    );
    const outcome = await m.upgrade(m.job({ version: "2.0.0", configs: AFTER }), { adapter });
    expect(outcome).toMatchObject({ verdict: "FAILED", compensated: true });
    await expectUntouched();
    const after = await inspected(lab.api, m.program.container);
    expect(after.Id).not.toBe(before.Id);
    expect(after.HostConfig).toEqual(before.HostConfig);
    expect(after.Config).toEqual(before.Config);
  });

  it("ROLL-9: a backup that was altered ends in FAILED_ROLLBACK", async () => {
    const folder = join(m.program.data_dir, ".upgrade-backup");
    const adapter = around(m.adapter(), "reload", async () => {
      const saved = (await readdir(folder, { recursive: true })).find((name) => name.endsWith("/artifact"))!;
      await writeFile(join(folder, saved), "{}");
      throw new Error("no further");
    });
    expect(await m.upgrade(m.job({ version: "2.0.0" }), { adapter })).toMatchObject({
      verdict: "FAILED_ROLLBACK",
      error: { code: "BACKUP_CORRUPT" },
    });
  });

  it("ROLL-8: a container that somebody put in the program's place is not removed", async () => {
    const { container } = m.program;
    const adapter = around(m.adapter(), "reload", async () => {
      await call(lab.api, "POST", `/containers/${container}/rename?name=${container}.mine`);
      const json = { Image: `${REPOSITORY}@${images.digestOf("1.0.0")}` };
      await call(lab.api, "POST", `/containers/create?name=${container}`, { json });
      throw new Error("no further");
    });
    expect(await m.upgrade(m.job({ version: "2.0.0" }), { adapter })).toMatchObject({
      verdict: "FAILED_ROLLBACK",
      error: { action: "install_artifact" },
    });
    expect((await containersOf(lab.api, container)).all).toHaveLength(3);
  });

  it("ROLL-4: a program that was frozen is stopped and upgraded all the same", async () => {
    await call(lab.api, "POST", `/containers/${m.program.container}/pause`);
    expect(await m.upgrade(m.job({ version: "2.0.0" }))).toMatchObject({ verdict: "COMPLETED" });
    expect((await m.version()).version).toBe("2.0.0");
  });

  it("ROLL-8: a stopped program stays off when the engine comes up, and a started one does not", async () => {
    await m.adapter().stop(never());
    await lab.stopEngine();
    await lab.startEngine();
    expect(await m.adapter().isRunning()).toBe(false);
    const request = { key: "by.hand.1", fingerprint: images.digestOf("1.0.0"), run: m.program.run };
    await m.adapter().start(request, never());
    await lab.stopEngine();
    await lab.startEngine();
    await expect.poll(async () => m.adapter().isSupervised(), { timeout: 10_000 }).toBe(true);
  });
});
