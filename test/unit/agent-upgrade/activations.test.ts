/** What is remembered of upgrades, and what is started from it: files are real, the program is pretended. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readActivation } from "../../../src/agent/upgrade/activations.ts";
import { ensureRunning } from "../../../src/agent/upgrade/ensure-running.ts";
import { readHold } from "../../../src/agent/upgrade/held.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { failingAlways, failingOnce } from "../../support/programs/failing-adapter.ts";
import { type FakeProcesses, fakeProcesses, fakeRuntime } from "../../support/programs/fake-runtime.ts";
import { type Machine, machine, never, PROFILE } from "../../support/programs/machine.ts";
import { systemError, trippingFileSystem } from "../../support/programs/tripping-file-system.ts";
import { until } from "../../support/programs/until.ts";

const CONFIGS = { "app.toml": "level = 2\n" };

let m: Machine;
let world: FakeProcesses;
beforeEach(async () => {
  world = fakeProcesses();
  m = await machine(({ program, fs }) => fakeRuntime(world, program, fs));
  await m.provision("1.0.0", { "app.toml": "level = 1\n" });
});
afterEach(() => m.close());

describe("the record of activations", () => {
  it("SNAP-16: names what runs and what ran before, by job", async () => {
    const before = await m.installed();
    const job = m.job({ version: "2.0.0", configs: CONFIGS });
    await m.upgrade(job);
    expect(await readActivation(m.stateDir, PROFILE)).toMatchObject({
      current: {
        fingerprint: job.artifact.fingerprint,
        version: "2.0.0",
        rollout_id: job.rollout_id,
        configs: job.configs,
      },
      previous: { fingerprint: before, version: null, rollout_id: null },
    });
  });

  it("SNAP-16: is not touched by a failure", async () => {
    await m.upgrade(m.job({ version: "2.0.0" }));
    const record = await readActivation(m.stateDir, PROFILE);
    await m.upgrade(m.job({ version: "3.0.0" }), { adapter: failingOnce(m.adapter(), "start", "after") });
    expect(await readActivation(m.stateDir, PROFILE)).toEqual(record);
  });

  it("SNAP-16: a reverse leaves no previous state, so that the same rollout cannot go forward by going back", async () => {
    const forward = m.job({ version: "2.0.0" });
    await m.upgrade(forward);
    const { rollout_id } = forward;
    expect(await m.upgrade(m.job({ version: "1.0.0", direction: "reverse", rollout_id }))).toMatchObject({
      verdict: "COMPLETED",
    });
    expect((await readActivation(m.stateDir, PROFILE))?.previous).toBeNull();
    const flip = m.job({ version: "2.0.0", direction: "reverse", rollout_id, attempt: 2 });
    expect(await m.upgrade(flip)).toMatchObject({ verdict: "FAILED", error: { code: "ROLLBACK_REFUSED" } });
    expect(await m.installed()).toBe(digestOf(helloProgram("1.0.0")));
  });

  it("SNAP-16: a change of configs or arguments alone records the same bytes as the previous state", async () => {
    const first = m.job({ version: "2.0.0", configs: CONFIGS });
    await m.upgrade(first);
    await m.upgrade(m.job({ version: "2.0.0", configs: { "app.toml": "level = 3\n" } }));
    expect((await readActivation(m.stateDir, PROFILE))?.previous).toMatchObject({
      fingerprint: first.artifact.fingerprint,
      configs: first.configs,
    });
    await m.upgrade(m.job({ version: "2.0.0", configs: { "app.toml": "level = 3\n" }, env: { LEVEL: "4" } }));
    expect((await readActivation(m.stateDir, PROFILE))?.previous).toMatchObject({
      fingerprint: first.artifact.fingerprint,
      run: first.run,
    });
  });

  it("SNAP-16: a target that runs already and was never recorded is not its own previous state", async () => {
    expect(await m.upgrade(m.job({ version: "1.0.0" }))).toMatchObject({ verdict: "COMPLETED" });
    expect((await readActivation(m.stateDir, PROFILE))?.previous).toBeNull();
  });

  it("SNAP-16: a target that was installed by hand is recorded with the version that was recorded before it", async () => {
    const first = m.job({ version: "2.0.0", configs: CONFIGS });
    await m.upgrade(first);
    await m.provision("3.0.0");
    expect(await m.upgrade(m.job({ version: "3.0.0" }))).toMatchObject({ verdict: "COMPLETED" });
    expect((await readActivation(m.stateDir, PROFILE))?.previous).toMatchObject({
      fingerprint: first.artifact.fingerprint,
      rollout_id: first.rollout_id,
      backup: null,
    });
  });

  it("ROLL-14: a reverse fetches its bytes again when the backup is gone", async () => {
    const first = m.job({ version: "2.0.0" });
    await m.upgrade(first);
    const second = m.job({ version: "3.0.0" });
    await m.upgrade(second);
    const folder = (await readActivation(m.stateDir, PROFILE))!.previous!.backup!.folder;
    await writeFile(join(m.program.data_dir, ".upgrade-backup", folder, "artifact"), "rotten");
    m.server.requests.length = 0;
    const back = m.job({ version: "2.0.0", direction: "reverse", rollout_id: second.rollout_id });
    expect(await m.upgrade(back)).toMatchObject({ verdict: "COMPLETED" });
    expect(m.server.requests).toEqual([`/${first.artifact.fingerprint}`]);
    expect(world.running?.fingerprint).toBe(first.artifact.fingerprint);
  });
});

describe("a program that should run", () => {
  const ensure = async () =>
    ensureRunning({
      profile: PROFILE,
      program: m.program,
      adapter: m.adapter(),
      stateDir: m.stateDir,
      signal: never(),
    });

  it("is started after a reboot, as it was activated last", async () => {
    const job = m.job({ version: "2.0.0" });
    await m.upgrade(job);
    world.running = null;
    expect(await ensure()).toEqual({ kind: "started" });
    expect(await until("it runs", () => world.running ?? undefined)).toMatchObject({
      fingerprint: job.artifact.fingerprint,
      instance_id: `${job.rollout_id}.forward.1.2`,
    });
  });

  it("is not started with other bytes than the activated ones, nor beside an unfinished upgrade", async () => {
    await m.upgrade(m.job({ version: "2.0.0" }));
    world.running = null;
    await writeFile(m.program.install_path, "changed by hand");
    expect(await ensure()).toMatchObject({ kind: "drifted" });

    const leaving = new AbortController();
    leaving.abort(new Error("leaving"));
    await expect(m.upgrade(m.job({ version: "3.0.0" }), { signal: leaving.signal })).rejects.toThrow(
      "leaving",
    );
    expect(await ensure()).toEqual({ kind: "upgrade_unfinished" });
  });
});

it("ROLL-5: after FAILED_ROLLBACK nothing is started, also where a full disk refused the hold and kept the checkpoint", async () => {
  const fs = trippingFileSystem((operation) => {
    if (operation.includes("/upgrades/held")) throw systemError("ENOSPC");
  });
  const broken = failingAlways(failingOnce(m.adapter(), "install", "after"), "restore");
  expect(await m.upgrade(m.job({ version: "2.0.0" }), { adapter: broken, fs })).toMatchObject({
    verdict: "FAILED_ROLLBACK",
  });
  expect([await readHold(m.stateDir, PROFILE), world.running]).toEqual([null, null]);
  const deps = { profile: PROFILE, program: m.program, adapter: m.adapter(), stateDir: m.stateDir };
  expect(await ensureRunning({ ...deps, signal: never() })).toEqual({ kind: "upgrade_unfinished" });
  expect(world.running).toBeNull();
});
