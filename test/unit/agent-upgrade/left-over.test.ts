/** SNAP-20 on the node: an upgrade that an earlier identity began neither ends nor blocks the identity after it. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readCheckpoint, saveCheckpoint } from "../../../src/agent/upgrade/checkpoints.ts";
import type { UpgradeOutcome } from "../../../src/agent/upgrade/completed-store.ts";
import { ensureRunning } from "../../../src/agent/upgrade/ensure-running.ts";
import { forbidForward, leftOverJob } from "../../../src/agent/upgrade/left-over.ts";
import type { UpgradeDeps } from "../../../src/agent/upgrade/run.ts";
import { NodeId } from "../../../src/core/ids.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { UPGRADE_ACTIONS } from "../../../src/core/upgrade/phases.ts";
import { type FakeProcesses, fakeProcesses, fakeRuntime } from "../../support/programs/fake-runtime.ts";
import { type Machine, machine, never, PROFILE } from "../../support/programs/machine.ts";

const LATER = NodeId.parse("99999999-0000-4000-8000-000000000009");

let m: Machine;
let world: FakeProcesses;
beforeEach(async () => {
  world = fakeProcesses();
  m = await machine(({ program, fs }) => fakeRuntime(world, program, fs));
  await m.provision("1.0.0", { "app.toml": "level = 1\n" });
});
afterEach(async () => m.close());

/** As the agent does at its start: a new identity has a ledger of its own, which holds no earlier job. */
async function started(accepted: readonly UpgradeJob[] = []): Promise<UpgradeOutcome | null> {
  const job = await leftOverJob(PROFILE, accepted, m.stateDir);
  return job === null ? null : m.upgrade(job, { beforeAction: forbidForward });
}

const ensure = () =>
  ensureRunning({
    profile: PROFILE,
    program: m.program,
    adapter: m.adapter(),
    stateDir: m.stateDir,
    signal: never(),
  });

/** The agent leaves before the named action, as a crash would. */
async function leftBefore(name: string) {
  const job = m.job({ version: "2.0.0", configs: { "app.toml": "level = 2\n" } });
  const leaving = new AbortController();
  const onProgress: UpgradeDeps["onProgress"] = ({ action_name }) => {
    if (action_name === name) leaving.abort(new Error("leaving"));
  };
  await expect(m.upgrade(job, { signal: leaving.signal, onProgress })).rejects.toThrow("leaving");
  return job;
}

describe("a machine that enrolled again with an unfinished upgrade of its earlier identity", () => {
  it.each(UPGRADE_ACTIONS.map(({ name }) => name))(
    "SNAP-20: an upgrade that was left before %s is taken back, and a later upgrade works",
    async (name) => {
      const before = await m.installed();
      await leftBefore(name);
      expect(await started()).toMatchObject({
        verdict: "FAILED",
        compensated: true,
        error: { code: "AUTHORITY_REVOKED" },
      });
      expect(await m.installed()).toBe(before);
      expect(await m.configs()).toEqual({ "app.toml": "level = 1\n" });
      expect(await ensure()).toEqual({ kind: "running" });
      const next = { ...m.job({ version: "2.0.0" }), node_id: LATER };
      expect(await m.upgrade(next)).toMatchObject({ verdict: "COMPLETED" });
    },
  );

  it("SNAP-20: an upgrade of the present identity is left to be resumed", async () => {
    const job = await leftBefore("install_artifact");
    expect(await started([job])).toBeNull();
    expect(await m.upgrade(job)).toMatchObject({ verdict: "COMPLETED" });
  });

  it("SNAP-20: the leftover checkpoint of an upgrade that had ended is removed, and nothing is taken back", async () => {
    const job = await leftBefore("start_node");
    const checkpoint = await readCheckpoint(m.stateDir, PROFILE);
    expect(await m.upgrade(job)).toMatchObject({ verdict: "COMPLETED" });
    const after = await m.installed();
    await saveCheckpoint(m.stateDir, checkpoint!);
    expect(await started()).toMatchObject({ verdict: "COMPLETED" });
    expect(await m.installed()).toBe(after);
    expect(await readCheckpoint(m.stateDir, PROFILE)).toBeUndefined();
  });
});
