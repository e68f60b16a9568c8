/**
 * SIGKILL of a real process that runs an upgrade of a real program, then a new one that finishes the job: the same on
 * each runtime (ROLL-6).
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { resumable } from "../../../src/agent/upgrade/checkpoints.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { minimalEnv, spawnChild } from "../../../src/host/process.ts";
import { UPGRADE_CHILD } from "../../support/programs/built.ts";
import type { ContractMachine } from "../../support/programs/contract-machine.ts";
import type { ChildSpec } from "../../support/programs/upgrade-child.ts";

const BEFORE = { "app.toml": "level = 1\n" };
const AFTER = { "app.toml": "level = 2\n", "peers.toml": "new\n" };

/** File operations, waited for in order; the process is killed before the last of them happens. */
export type KillPoint = readonly string[];

/** A checkpoint is written before and after each action that has something to do. */
const CHECKPOINT = String.raw`rename .*/upgrades/active/hello-mainnet\.json$`;
const checkpoints = (count: number): string[] => Array.from({ length: count }, () => CHECKPOINT);

/** Stops before the checkpoint that follows the one which says that this action is done. */
const AFTER_ACTION = {
  backup_state: checkpoints(4),
  acquire_artifact: checkpoints(6),
  verify_artifact: checkpoints(8),
  stop_node: checkpoints(10),
  install_artifact: checkpoints(12),
  write_configs: checkpoints(14),
  reload_daemon: checkpoints(16),
  start_node: [String.raw`rename .*/upgrades/activations/`],
} as const;

/** The same on every runtime. */
const AROUND = {
  "the write of the first config": [String.raw`write .*/config/\.fairlead`],
  "the write of the second config, after the first": [
    String.raw`rename .*/config/app\.toml`,
    String.raw`rename .*/config/peers\.toml`,
  ],
  "the end, before the verdict is stored": [String.raw`rename .*/upgrades/completed/`],
  "the end, before the checkpoint goes": [String.raw`unlink .*/upgrades/active/hello-mainnet\.json$`],
} as const;

/** For programs that are one file. */
export const INSIDE_INSTALL = {
  "install, before the rename": [String.raw`rename .*/bin/hello$`],
  "install, after the rename and before it is synced": [String.raw`rename .*/bin/hello$`, "sync .*/bin$"],
} as const;
export const INSIDE_RESTORE: KillPoint = [String.raw`rename .*/bin/hello$`, String.raw`rename .*/bin/hello$`];

export interface KillPoints {
  /** Inside this runtime's own steps of the way forward. */
  readonly inside: Readonly<Record<string, KillPoint>>;
  /** Of an upgrade to a program that ends at once. */
  readonly whileTakenBack: Readonly<Record<string, KillPoint>>;
}

export function killSuite(
  runtime: string,
  makeMachine: () => Promise<ContractMachine>,
  points: KillPoints,
): void {
  describe(`an agent killed during an upgrade of a ${runtime} program`, () => {
    let m: ContractMachine;
    beforeEach(async () => {
      m = await makeMachine();
      await m.provision("1.0.0", BEFORE);
    });
    afterEach(async () => m.close());

    async function killAt(job: UpgradeJob, stopAt: readonly string[]): Promise<void> {
      const spec: ChildSpec = {
        program: m.program,
        place: m.place,
        stateDir: m.stateDir,
        job,
        contents: [...m.contents],
        stopAt,
      };
      const path = join(m.root, "child.json");
      await writeFile(path, JSON.stringify(spec));
      const { child } = await spawnChild(process.execPath, [UPGRADE_CHILD, path], {
        env: minimalEnv(),
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = new Promise((done) => child.once("exit", done));
      const said = await new Promise<string>((done) =>
        child.stdout!.once("data", (chunk: Buffer) => done(chunk.toString())),
      );
      expect(said).toBe("there\n");
      child.kill("SIGKILL");
      await exited;
    }

    const expectOneStartEach = async (): Promise<void> => {
      const instances = (await m.starts()).map((line) => line.split(" ")[0]);
      expect(new Set(instances).size).toBe(instances.length);
    };

    async function expectFinished(job: UpgradeJob): Promise<void> {
      const [left = job] = await resumable(m.stateDir);
      expect(left).toEqual(job);
      expect(await m.upgrade(left)).toMatchObject({ verdict: "COMPLETED", error: null });
      expect((await m.version()).version).toBe("2.0.0");
      expect(await m.configs()).toEqual(AFTER);
      expect(await m.leftOver()).toEqual([]);
      expect(await resumable(m.stateDir)).toEqual([]);
      await expectOneStartEach();
    }

    it.each(Object.entries(AFTER_ACTION))(
      "ROLL-6: after %s, the next agent ends at the target",
      async (_, stopAt) => {
        const job = m.job({ version: "2.0.0", configs: AFTER });
        await killAt(job, stopAt);
        await expectFinished(job);
      },
    );

    it.each(Object.entries({ ...AROUND, ...points.inside }))(
      "ROLL-6: inside %s, the next agent ends at the target",
      async (_, stopAt) => {
        const job = m.job({ version: "2.0.0", configs: AFTER });
        await killAt(job, stopAt);
        await expectFinished(job);
      },
    );

    it.each(Object.entries(points.whileTakenBack))(
      "ROLL-5: while %s is taken back, the next agent takes it back to the end",
      async (_, stopAt) => {
        const installed = await m.installed();
        const job = m.job({ version: "2.0.0", configs: AFTER, crashing: true });
        await killAt(job, stopAt);
        expect(await m.upgrade(job)).toMatchObject({
          verdict: "FAILED",
          compensated: true,
          error: { code: "PROGRAM_NOT_RUNNING", action: "start_node" },
        });
        expect(await m.installed()).toBe(installed);
        expect(await m.configs()).toEqual(BEFORE);
        expect((await m.version()).version).toBe("1.0.0");
        await expectOneStartEach();
      },
    );

    it("ROLL-5: a restart past the deadline takes the upgrade back", async () => {
      const installed = await m.installed();
      const job = m.job({ version: "2.0.0", configs: AFTER });
      await killAt(job, AFTER_ACTION.install_artifact);
      const later = { now: () => Date.now() + 11 * 60_000, monotonic: () => performance.now() };
      expect(await m.upgrade(job, { clock: later })).toMatchObject({
        verdict: "FAILED",
        compensated: true,
        error: { code: "DEADLINE_PASSED" },
      });
      expect(await m.installed()).toBe(installed);
      expect((await m.version()).version).toBe("1.0.0");
    });
  });
}
