/** Order, budgets and refusals of the executor: files are real, the program is pretended, time is the test's. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { COMPENSATIONS } from "../../../src/agent/upgrade/actions/index.ts";
import { ensureRunning } from "../../../src/agent/upgrade/ensure-running.ts";
import { readHold } from "../../../src/agent/upgrade/held.ts";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { type ActionName, UPGRADE_ACTIONS } from "../../../src/core/upgrade/phases.ts";
import { createLogger } from "../../../src/host/log.ts";
import { around, failingAlways, failingOnce, METHOD_OF } from "../../support/programs/failing-adapter.ts";
import { type FakeProcesses, fakeProcesses, fakeRuntime } from "../../support/programs/fake-runtime.ts";
import { type Machine, machine, never, PROFILE } from "../../support/programs/machine.ts";

const NAMES = UPGRADE_ACTIONS.map(({ name }) => name);
const CONFIGS = { "app.toml": "level = 2\n" };

let m: Machine;
let world: FakeProcesses;
beforeEach(async () => {
  world = fakeProcesses();
  m = await machine(({ program, fs }) => fakeRuntime(world, program, fs));
  await m.provision("1.0.0", { "app.toml": "level = 1\n" });
});
afterEach(async () => {
  vi.useRealTimers();
  await m.close();
});

/** Notes the order of calls that change something. */
function recording(adapter: RuntimeAdapter, calls: string[]): RuntimeAdapter {
  const methods = [
    "stop",
    "restoreConfigs",
    "restore",
    "reload",
    "start",
    "removeDownload",
    "install",
  ] as const;
  return methods.reduce<RuntimeAdapter>(
    (wrapped, method) =>
      around(wrapped, method, async (work) => {
        calls.push(method);
        return work();
      }),
    adapter,
  );
}

/** Never answers, and does not listen when it is told to stop: as a hung `systemctl` would. */
function hanging(adapter: RuntimeAdapter, method: (typeof METHOD_OF)[ActionName] | "restore") {
  let hangs = false;
  const hung = around(adapter, method, async (work) => {
    if (hangs) return work();
    hangs = true;
    return new Promise(() => undefined);
  });
  return { adapter: hung, hangs: () => hangs };
}

describe("the way back", () => {
  it("ROLL-5: stop, restore configs, restore artifact, reload, start, remove the download", async () => {
    const calls: string[] = [];
    const adapter = recording(failingOnce(m.adapter(), "start", "after"), calls);
    await m.upgrade(m.job({ version: "2.0.0", configs: CONFIGS }), { adapter });
    const back = calls.slice(calls.indexOf("start") + 1);
    expect(back).toEqual(["stop", "restoreConfigs", "restore", "reload", "start", "removeDownload"]);
    expect(COMPENSATIONS.map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted());
  });

  it.each(NAMES)(
    "ROLL-5: a failure of %s before it did anything leaves everything as it was",
    async (name) => {
      const installed = await m.installed();
      const adapter = failingOnce(m.adapter(), METHOD_OF[name], "before");
      const outcome = await m.upgrade(m.job({ version: "2.0.0", configs: CONFIGS }), { adapter });
      expect(outcome).toMatchObject({
        verdict: "FAILED",
        compensated: true,
        error: { code: "ACTION_FAILED", action: name },
      });
      expect(await m.installed()).toBe(installed);
      expect(await m.configs()).toEqual({ "app.toml": "level = 1\n" });
      expect(await m.leftOver()).toEqual([]);
      expect(world.running?.fingerprint).toBe(installed);
    },
  );

  it("ROLL-5: stops at its first failure, holds the profile, and a later success lifts that", async () => {
    const calls: string[] = [];
    const failing = failingAlways(failingOnce(m.adapter(), "start", "after"), "restoreConfigs");
    const outcome = await m.upgrade(m.job({ version: "2.0.0", configs: CONFIGS }), {
      adapter: recording(failing, calls),
    });
    expect(outcome).toMatchObject({
      verdict: "FAILED_ROLLBACK",
      error: { code: "COMPENSATION_FAILED", action: "write_configs" },
    });
    expect(calls.at(-1)).toBe("restoreConfigs");
    expect(world.running).toBeNull();
    const ensure = {
      profile: PROFILE,
      program: m.program,
      adapter: m.adapter(),
      stateDir: m.stateDir,
      signal: never(),
    };
    expect(await ensureRunning(ensure)).toMatchObject({
      kind: "held",
      hold: { code: "COMPENSATION_FAILED" },
    });

    expect(await m.upgrade(m.job({ version: "3.0.0" }))).toMatchObject({ verdict: "COMPLETED" });
    expect(await readHold(m.stateDir, PROFILE)).toBeNull();
  });
});

describe("authority", () => {
  it("SNAP-16: is asked before the node stops; refused, nothing has stopped and the download goes", async () => {
    const outcome = await m.upgrade(m.job({ version: "2.0.0" }), {
      beforeAction: (name) => {
        if (name === "stop_node") throw new FairleadError("INTENT_EXPIRED", "the window is closed");
      },
    });
    expect(outcome).toMatchObject({
      verdict: "FAILED",
      compensated: true,
      error: { code: "INTENT_EXPIRED", action: "stop_node" },
    });
    expect(world.log).toEqual(["start"]); // the provisioning
    expect(await m.leftOver()).toEqual([]);
  });

  it("SNAP-16: is asked also when the node happens to be off; the way back needs none", async () => {
    await m.adapter().stop(never());
    const asked: string[] = [];
    const adapter = failingOnce(m.adapter(), "install", "before");
    await m.upgrade(m.job({ version: "2.0.0" }), { adapter, beforeAction: (name) => void asked.push(name) });
    expect(asked).toEqual(NAMES.slice(0, NAMES.indexOf("install_artifact") + 1));
  });
});

describe("budgets", () => {
  /** Time passes only while something hangs, until that is noticed: what works is given all it needs. */
  const run = async ({ adapter, hangs }: ReturnType<typeof hanging>) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const seen = { noticed: false, ended: false };
    const log = createLogger({ level: "warn", write: () => (seen.noticed = hangs()) });
    const job = m.job({ version: "2.0.0", configs: CONFIGS });
    const running = m.upgrade(job, { adapter, log }).finally(() => (seen.ended = true));
    while (!seen.ended) {
      await new Promise(setImmediate);
      if (hangs() && !seen.noticed) await vi.advanceTimersByTimeAsync(1_000);
    }
    return running;
  };

  it.each(["backup_state", "stop_node", "install_artifact", "start_node"] as const)(
    "ROLL-5: %s that hangs is cut off after its time, and taken back",
    async (name) => {
      const installed = await m.installed();
      const outcome = await run(hanging(m.adapter(), METHOD_OF[name]));
      expect(outcome).toMatchObject({
        verdict: "FAILED",
        compensated: true,
        error: { code: "ACTION_TIMEOUT", action: name },
      });
      expect(await m.installed()).toBe(installed);
      expect(world.running?.fingerprint).toBe(installed);
    },
  );

  it("ROLL-5: a way back that hangs is given up, and the profile held", async () => {
    const outcome = await run(hanging(failingOnce(m.adapter(), "start", "after"), "restore"));
    expect(outcome).toMatchObject({
      verdict: "FAILED_ROLLBACK",
      error: { code: "ACTION_TIMEOUT", action: "install_artifact" },
    });
  });

  it("ROLL-5: actions that are each in time end with the schedule", async () => {
    const job = m.job({ version: "2.0.0" });
    let now = Date.now();
    const clock = { now: () => now, monotonic: () => now };
    const leaving = new AbortController();
    const stopping = m.upgrade(job, {
      clock,
      signal: leaving.signal,
      onProgress: ({ action_name }) => {
        if (action_name === "install_artifact") leaving.abort(new Error("leaving"));
      },
    });
    await expect(stopping).rejects.toThrow("leaving");
    now += LIMITS.scheduleToCloseMs;
    expect(await m.upgrade(job, { clock })).toMatchObject({
      verdict: "FAILED",
      compensated: true,
      error: { code: "DEADLINE_PASSED" },
    });
    expect((await m.installed()) === world.running?.fingerprint).toBe(true);
  });
});

describe("idempotency", () => {
  it("ROLL-6: the same attempt with another content is refused, also after it ended", async () => {
    const job = m.job({ version: "2.0.0" });
    await m.upgrade(job);
    const other = { ...m.job({ version: "3.0.0" }), rollout_id: job.rollout_id };
    expect(await m.upgrade(other)).toMatchObject({ verdict: "FAILED", error: { code: "ATTEMPT_REFUSED" } });
    expect(world.running?.fingerprint).toBe(job.artifact.fingerprint);
  });

  it("ROLL-6: another command for the same attempt gets the stored verdict", async () => {
    const job = m.job({ version: "2.0.0" });
    const first = await m.upgrade(job);
    expect(await m.upgrade({ ...job, command_id: m.job({ version: "x" }).command_id })).toEqual(first);
    expect(world.instances).toHaveLength(2);
  });

  it("ROLL-6: a checkpoint of another input is neither used nor lost", async () => {
    const job = m.job({ version: "2.0.0" });
    const leaving = new AbortController();
    leaving.abort(new Error("leaving"));
    await expect(m.upgrade(job, { signal: leaving.signal })).rejects.toThrow("leaving");
    const same = { ...m.job({ version: "3.0.0" }), rollout_id: job.rollout_id };
    expect(await m.upgrade(same)).toMatchObject({ verdict: "FAILED", error: { code: "ATTEMPT_REFUSED" } });
    expect(await m.upgrade(m.job({ version: "3.0.0" }))).toMatchObject({
      verdict: "FAILED",
      error: { code: "STATE_MOVED" },
    });
    expect(await m.upgrade(job)).toMatchObject({ verdict: "COMPLETED" });
  });

  it("ROLL-6: a checkpoint that cannot be read any more needs a person", async () => {
    const job = m.job({ version: "2.0.0" });
    await m.upgrade(m.job({ version: "1.5.0" }));
    await writeFile(join(m.stateDir, "upgrades", "active", `${PROFILE}.json`), "{ half");
    expect(await m.upgrade(job)).toMatchObject({ verdict: "FAILED_ROLLBACK", compensated: false });
  });

  it("ROLL-6: progress that cannot be reported changes nothing", async () => {
    const onProgress = (): never => {
      throw new Error("no connection");
    };
    expect(await m.upgrade(m.job({ version: "2.0.0" }), { onProgress })).toMatchObject({
      verdict: "COMPLETED",
    });
  });
});
