/** What every runtime must do (ROLL-8): the same suite runs on each. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readActivation } from "../../../src/agent/upgrade/activations.ts";
import { ACTIONS } from "../../../src/agent/upgrade/actions/index.ts";
import { resumable } from "../../../src/agent/upgrade/checkpoints.ts";
import { readHold } from "../../../src/agent/upgrade/held.ts";
import { planOf } from "../../../src/agent/upgrade/plan.ts";
import type { UpgradeDeps } from "../../../src/agent/upgrade/run.ts";
import { stagedConfigs } from "../../../src/agent/upgrade/staged-configs.ts";
import { type ActionName, UPGRADE_ACTIONS } from "../../../src/core/upgrade/phases.ts";
import { failingAlways, failingOnce, METHOD_OF } from "../../support/programs/failing-adapter.ts";
import { type ContractMachine, never, PROFILE } from "../../support/programs/contract-machine.ts";
import { backupCases } from "./backup-cases.ts";

const BEFORE = { "app.toml": "level = 1\n", "other.toml": "untouched\n" };
const AFTER = { "app.toml": "level = 2\n", "peers/list.toml": "new file\n" };
const NAMES = UPGRADE_ACTIONS.map(({ name }) => name);

export function adapterContract(runtime: string, makeMachine: () => Promise<ContractMachine>): void {
  describe(`a ${runtime} program`, () => {
    let m: ContractMachine;
    beforeEach(async () => {
      m = await makeMachine();
      await m.provision("1.0.0", BEFORE);
    });
    afterEach(async () => m.close());

    const expectUntouched = async (installed: string): Promise<void> => {
      expect(await m.installed()).toBe(installed);
      expect(await m.configs()).toEqual(BEFORE);
      expect(await m.leftOver()).toEqual([]);
      expect((await m.version()).version).toBe("1.0.0");
    };

    it("ROLL-4 ROLL-7: goes through the eight actions in order, and runs the new version with its configs", async () => {
      const seen: string[] = [];
      const outcome = await m.upgrade(m.job({ version: "2.0.0", configs: AFTER }), {
        onProgress: ({ phase, action_index, action_name }) =>
          void seen.push(`${action_index} ${phase} ${action_name}`),
      });
      expect(outcome).toMatchObject({ verdict: "COMPLETED", error: null, compensated: false });
      expect(seen).toEqual(UPGRADE_ACTIONS.map(({ phase, name }, index) => `${index} ${phase} ${name}`));
      expect(await m.version()).toMatchObject({ version: "2.0.0", instance_id: outcome.instance_id });
      expect(await m.configs()).toEqual({ ...BEFORE, ...AFTER });
      expect(await m.leftOver()).toEqual([]);
    });

    it("ROLL-4: leaves data, keys and identity of the node alone", async () => {
      const key = join(m.program.data_dir, "keystore", "node.key");
      await mkdir(dirname(key));
      await writeFile(key, "identity");
      await m.upgrade(m.job({ version: "2.0.0", configs: AFTER }));
      await m.upgrade(m.job({ version: "3.0.0", configs: AFTER }), {
        adapter: failingOnce(m.adapter(), "start", "after"),
      });
      expect(await readFile(key, "utf8")).toBe("identity");
    });

    it("ROLL-4: knows each action that is already done, and each that is not", async () => {
      const job = m.job({ version: "2.0.0", configs: AFTER });
      const done = async (): Promise<string[]> => {
        const adapter = m.adapter();
        const configs = stagedConfigs({
          folder: join(m.root, "staged"),
          adapter,
          fetchConfig: m.deps().fetchConfig,
        });
        const context = {
          adapter,
          plan: planOf(job, null),
          configs,
          facts: { backup: null },
          signal: never(),
        };
        await configs.stage(job.configs, null, never());
        const asked = await Promise.all(
          ACTIONS.map(async (action) => ((await action.isDone(context)) ? [action.name] : [])),
        );
        return asked.flat();
      };
      expect(await done()).toEqual([]);
      await m.upgrade(job);
      // Whether a backup was taken only the checkpoint knows.
      expect(await done()).toEqual(["acquire_artifact", "install_artifact", "write_configs", "start_node"]);
      await m.adapter().stop(never());
      expect(await done()).toEqual(["acquire_artifact", "stop_node", "install_artifact", "write_configs"]);
    });

    it("ROLL-6: answers a job that ended from its store, and starts nothing", async () => {
      const job = m.job({ version: "2.0.0" });
      const first = await m.upgrade(job);
      expect(await m.upgrade(job)).toEqual(first);
      expect(await m.version()).toMatchObject({ version: "2.0.0", instance_id: first.instance_id });
      expect(await m.starts()).toHaveLength(2);
    });

    // On one machine: what the first failure left behind would be found by the second.
    it.each(NAMES)(
      "ROLL-5: everything is as it was when %s fails, and when it is in doubt",
      async (name: ActionName) => {
        const installed = await m.installed();
        for (const when of ["before", "after"] as const) {
          const adapter = failingOnce(m.adapter(), METHOD_OF[name], when);
          const outcome = await m.upgrade(m.job({ version: "2.0.0", configs: AFTER }), { adapter });
          const message = `${METHOD_OF[name]} failed ${when} its effect`;
          expect(outcome).toMatchObject({
            verdict: "FAILED",
            compensated: true,
            error: { action: name, message },
          });
          await expectUntouched(installed);
        }
        expect(new Set(await m.starts()).size).toBe((await m.starts()).length);
        expect(await readActivation(m.stateDir, PROFILE)).toBeNull();
      },
    );

    it("ROLL-5: a new version that ends at once is taken back", async () => {
      const installed = await m.installed();
      const outcome = await m.upgrade(m.job({ version: "2.0.0", configs: AFTER, crashing: true }));
      expect(outcome).toMatchObject({
        verdict: "FAILED",
        compensated: true,
        error: { code: "PROGRAM_NOT_RUNNING" },
      });
      await expectUntouched(installed);
    });

    it("ROLL-5: a program that was off before stays off after a failure", async () => {
      await m.adapter().stop(never());
      const adapter = failingOnce(m.adapter(), "reload", "after");
      expect(await m.upgrade(m.job({ version: "2.0.0" }), { adapter })).toMatchObject({
        verdict: "FAILED",
        compensated: true,
      });
      expect(await m.adapter().isRunning()).toBe(false);
      expect(await m.starts()).toHaveLength(1);
    });

    it("ROLL-5: when the way back fails too, the verdict is FAILED_ROLLBACK and the profile is held", async () => {
      const adapter = failingAlways(failingOnce(m.adapter(), "reload", "before"), "restore");
      const outcome = await m.upgrade(m.job({ version: "2.0.0" }), { adapter });
      expect(outcome).toMatchObject({
        verdict: "FAILED_ROLLBACK",
        compensated: false,
        error: { code: "COMPENSATION_FAILED", action: "install_artifact" },
      });
      expect(await m.adapter().isRunning()).toBe(false);
      expect(await readHold(m.stateDir, PROFILE)).toMatchObject({ code: "COMPENSATION_FAILED" });
      expect(await resumable(m.stateDir)).toEqual([]);
    });

    backupCases(() => m, BEFORE, AFTER);

    it.each(["acquire_artifact", "install_artifact", "start_node"])(
      "ROLL-6: an agent that leaves before %s leaves a job that the next one finishes",
      async (name) => {
        const job = m.job({ version: "2.0.0", configs: AFTER });
        const leaving = new AbortController();
        const onProgress: UpgradeDeps["onProgress"] = ({ action_name }) => {
          if (action_name === name) leaving.abort(new Error("leaving"));
        };
        await expect(m.upgrade(job, { signal: leaving.signal, onProgress })).rejects.toThrow("leaving");
        expect(await resumable(m.stateDir)).toEqual([job]);
        expect(await m.upgrade(job)).toMatchObject({ verdict: "COMPLETED" });
        expect((await m.version()).version).toBe("2.0.0");
        expect(await m.starts()).toHaveLength(2);
        expect(await resumable(m.stateDir)).toEqual([]);
      },
    );

    it("ROLL-6: upgrade, roll back, upgrade again really reinstalls", async () => {
      const forward = m.job({ version: "2.0.0", configs: AFTER, upgrade_id: "to-2" });
      expect(await m.upgrade(forward)).toMatchObject({ verdict: "COMPLETED" });
      const { rollout_id } = forward;
      const back = m.job({ version: "1.0.0", direction: "reverse", rollout_id, upgrade_id: "to-2" });
      await m.loseArtifact(back); // the bytes come from the backup
      expect(await m.upgrade(back)).toMatchObject({ verdict: "COMPLETED", error: null });
      expect((await m.version()).version).toBe("1.0.0");
      expect(await m.configs()).toEqual(BEFORE);
      const again = m.job({ version: "2.0.0", configs: AFTER, upgrade_id: "to-2" });
      expect(await m.upgrade(again)).toMatchObject({ verdict: "COMPLETED" });
      expect((await m.version()).version).toBe("2.0.0");
      expect(await m.configs()).toEqual({ ...BEFORE, ...AFTER });
    });

    it.each([true, false])(
      "SNAP-16: a retry that finds the target running keeps the version before it for a rollback (of the same rollout: %s)",
      async (isRetry) => {
        await m.upgrade(m.job({ version: "2.0.0" }));
        const before = await m.installed();
        const first = m.job({ version: "3.0.0", configs: AFTER });
        await m.upgrade(first);
        const recorded = (await readActivation(m.stateDir, PROFILE))?.previous;
        const again = { version: "3.0.0", configs: AFTER };
        const { rollout_id } = first;
        const second = m.job(isRetry ? { ...again, rollout_id, attempt: 2 } : again);
        expect(await m.upgrade(second)).toMatchObject({ verdict: "COMPLETED" });
        expect((await readActivation(m.stateDir, PROFILE))?.previous).toEqual(recorded);
        const back = m.job({
          version: "2.0.0",
          direction: "reverse",
          rollout_id: second.rollout_id,
          attempt: isRetry ? 2 : 1,
        });
        await m.loseArtifact(back);
        expect(await m.upgrade(back)).toMatchObject({ verdict: "COMPLETED" });
        expect([await m.installed(), await m.configs()]).toEqual([before, BEFORE]);
        expect((await m.version()).version).toBe("2.0.0");
      },
    );

    it("SNAP-16: a reverse goes to the recorded previous state only", async () => {
      const first = m.job({ version: "2.0.0" });
      const early = m.job({ version: "1.0.0", direction: "reverse" });
      expect(await m.upgrade(early)).toMatchObject({
        verdict: "FAILED",
        error: { code: "ROLLBACK_REFUSED" },
      });
      await m.upgrade(first);
      const other = m.job({ version: "0.9.0", direction: "reverse", rollout_id: first.rollout_id });
      expect(await m.upgrade(other)).toMatchObject({
        verdict: "FAILED",
        error: { code: "ROLLBACK_REFUSED" },
      });
      expect((await m.version()).version).toBe("2.0.0");
    });
  });
}
