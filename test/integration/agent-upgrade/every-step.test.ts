/**
 * An upgrade makes some eighty changes to the disk. Here it dies before each of them in turn, or the disk fails at
 * each of them in turn: files are real, the program is pretended.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readActivation } from "../../../src/agent/upgrade/activations.ts";
import { readCheckpoint, resumable } from "../../../src/agent/upgrade/checkpoints.ts";
import { ensureRunning } from "../../../src/agent/upgrade/ensure-running.ts";
import type { RuntimeAdapter, StartRequest } from "../../../src/agent/upgrade/port.ts";
import { readHold } from "../../../src/agent/upgrade/held.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { syncFileSystem } from "../../support/host/sync-file-system.ts";
import { artifactServer, type ArtifactServer } from "../../support/programs/artifact-server.ts";
import { around } from "../../support/programs/failing-adapter.ts";
import { fakeProcesses, fakeRuntime } from "../../support/programs/fake-runtime.ts";
import { FAKE_UNIT, fakeSystemd, fakeUnit, listDropIns } from "../../support/programs/fake-systemd.ts";
import {
  type Machine,
  machine,
  type MachineOptions,
  type MachineParts,
  never,
  PROFILE,
} from "../../support/programs/machine.ts";
import {
  diesAt,
  failsOnceAt,
  type Trap,
  trippingFileSystem,
} from "../../support/programs/tripping-file-system.ts";

const BEFORE = { "app.toml": "level = 1\n" };
const AFTER = { "app.toml": "level = 2\n", "peers/list.toml": "new\n" };

interface Case {
  readonly m: Machine;
  readonly job: UpgradeJob;
  /** Ids of what was started, in order. */
  readonly instances: readonly string[];
  /** What a runtime keeps beside the program. */
  beside(): Promise<string[]>;
}

/** A runtime with a pretended program: its adapter, what was started, and what it keeps. */
interface Pretended {
  readonly options: Partial<MachineOptions>;
  adapter(parts: MachineParts): RuntimeAdapter;
  readonly instances: readonly string[];
  beside(m: Machine): Promise<string[]>;
}

const RUNTIMES: Readonly<Record<string, () => Pretended>> = {
  process() {
    const world = fakeProcesses();
    return {
      options: {},
      adapter: ({ program, fs }) => fakeRuntime(world, program, fs),
      instances: world.instances,
      beside: async () => [],
    };
  },
  systemd() {
    const world = fakeUnit();
    return {
      options: { surroundings: FAKE_UNIT },
      adapter: (parts) => fakeSystemd(world, parts),
      instances: world.instances,
      beside: async ({ stateDir }) => listDropIns(stateDir),
    };
  },
};

const made: Machine[] = [];
let server: ArtifactServer;
beforeAll(async () => (server = await artifactServer()));
afterAll(async () => server.close());
afterEach(async () => {
  for (const m of made.splice(0)) await m.close();
});

async function freshOf({ options, adapter, instances, beside }: Pretended): Promise<Case> {
  const m = await machine(adapter, { server, disk: syncFileSystem, ...options });
  made.push(m);
  await m.provision("1.0.0", BEFORE);
  return { m, instances, beside: async () => beside(m), job: m.job({ version: "2.0.0", configs: AFTER }) };
}

/** Runs the job on a disk with a trap; true when the trap was never reached. */
async function runTrapped({ m, job }: Case, trap: Trap, wrap = (adapter: RuntimeAdapter) => adapter) {
  let reached = 0;
  const fs = trippingFileSystem(async (operation, index) => {
    reached = index;
    await trap(operation, index);
  }, syncFileSystem);
  const outcome = await m.upgrade(job, { fs, adapter: wrap(m.adapter(fs)) }).catch(() => undefined);
  return { outcome, reached };
}

/** The new version starts, and then nobody can tell. */
const failingStart = (adapter: RuntimeAdapter, job: UpgradeJob): RuntimeAdapter =>
  around(adapter, "start", async (work, [request]) => {
    await work();
    if ((request as StartRequest).fingerprint === job.artifact.fingerprint) throw new Error("did it start?");
  });

async function stateOf({ m, beside }: Case) {
  return {
    installed: await m.installed(),
    running: (await m.adapter().running())?.fingerprint,
    beside: await beside(),
    configs: await m.configs(),
    leftOver: await m.leftOver(),
  };
}

const ensured = async ({ program, stateDir, adapter }: Machine): Promise<string> =>
  (await ensureRunning({ profile: PROFILE, program, adapter: adapter(), stateDir, signal: never() })).kind;

/** As after a reboot: whatever could not be tidied up keeps nothing from running. */
async function startedAgain(m: Machine): Promise<string> {
  await m.adapter().stop(never());
  return ensured(m);
}

const reachedState = (fingerprint: string) => ({
  installed: fingerprint,
  running: fingerprint,
  configs: AFTER,
});

/** Runs a check for 0, 1, 2, … until the trap lies beyond the last change. Most of the time is waiting: eight at once. */
async function sweep(check: (index: number) => Promise<"reached" | "beyond">, stride = 1): Promise<number> {
  for (let first = 0; ; first += 8 * stride) {
    const indexes = Array.from({ length: 8 }, (_, n) => first + n * stride);
    const seen = await Promise.all(indexes.map(check));
    if (seen.includes("beyond")) return indexes[seen.indexOf("beyond")]!;
  }
}

describe.each(Object.entries(RUNTIMES))("an upgrade of a %s program", (_, pretend) => {
  const fresh = async (): Promise<Case> => freshOf(pretend());

  it("ROLL-6: killed before any change to the disk, it is finished by the next agent", async () => {
    const swept = await sweep(async (index) => {
      const one = await fresh();
      const before = await stateOf(one);
      if ((await runTrapped(one, diesAt(index))).reached < index) return "beyond";
      const outcome = await one.m.upgrade(one.job);
      await ensured(one.m); // as the next agent does once nothing is under way
      const { fingerprint } = one.job.artifact;
      expect({ index, ...outcome }).toMatchObject({ index, verdict: "COMPLETED" });
      expect(await stateOf(one)).toEqual({ ...before, ...reachedState(fingerprint) });
      expect(new Set(one.instances).size).toBe(one.instances.length);
      expect((await readActivation(one.m.stateDir, PROFILE))?.previous).toMatchObject({ rollout_id: null });
      expect(await resumable(one.m.stateDir)).toEqual([]);
      return "reached";
    });
    expect(swept).toBeGreaterThan(100);
  }, 300_000);

  it("ROLL-5: killed before any change while it is taken back, the next agent takes it back to the end", async () => {
    const swept = await sweep(async (index) => {
      const one = await fresh();
      const before = await stateOf(one);
      const { reached } = await runTrapped(one, diesAt(index), (adapter) => failingStart(adapter, one.job));
      if (reached < index) return "beyond";
      const isTakenBack = (await readCheckpoint(one.m.stateDir, PROFILE))?.failure != null;
      const outcome = await one.m.upgrade(one.job, { adapter: failingStart(one.m.adapter(), one.job) });
      if (!isTakenBack && outcome.verdict === "COMPLETED") {
        // It died after the program had started and before anyone could doubt it.
        expect(await stateOf(one)).toEqual({ ...before, ...reachedState(one.job.artifact.fingerprint) });
      } else {
        expect({ index, ...outcome }).toMatchObject({ index, verdict: "FAILED", compensated: true });
        expect(await stateOf(one)).toEqual(before);
      }
      expect(await resumable(one.m.stateDir)).toEqual([]);
      return "reached";
    });
    expect(swept).toBeGreaterThan(100);
  }, 300_000);

  // Where a disk fails matters more than how: one error at every place, the other at some.
  it.each([
    ["EIO", 1],
    ["ENOSPC", 5],
  ])(
    "ROLL-5: %s at a change ends in the new state or in the old one",
    async (errno, stride) => {
      const swept = await sweep(async (index) => {
        const one = await fresh();
        const before = await stateOf(one);
        const { outcome, reached } = await runTrapped(one, failsOnceAt(index, errno));
        if (reached < index) return "beyond";
        const { fingerprint } = one.job.artifact;
        const after = { ...before, ...reachedState(fingerprint) };
        expect(outcome?.verdict, `at ${index}`).toMatch(/^(FAILED|COMPLETED)$/);
        expect(await stateOf(one)).toEqual(outcome?.verdict === "COMPLETED" ? after : before);
        expect(await readHold(one.m.stateDir, PROFILE)).toBeNull();
        expect(await startedAgain(one.m)).toBe("started");
        return "reached";
      }, stride);
      expect(swept).toBeGreaterThan(100);
    },
    300_000,
  );
});
