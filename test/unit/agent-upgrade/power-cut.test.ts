/**
 * The power is cut after every single file operation of an upgrade and of its way back, and, in a container engine,
 * after every change there; what was not synced is gone. Where a machine comes up, only a whole version runs, and the
 * agent ends what it began. The same on a real systemd: test/integration/agent-systemd/power-cut.test.ts.
 */
import { afterEach, describe, expect, it } from "vitest";
import { readActivation } from "../../../src/agent/upgrade/activations.ts";
import { readCheckpoint } from "../../../src/agent/upgrade/checkpoints.ts";
import { ensureRunning } from "../../../src/agent/upgrade/ensure-running.ts";
import type { RuntimeAdapter, StartRequest } from "../../../src/agent/upgrade/port.ts";
import { never, PROFILE } from "../../support/programs/contract-machine.ts";
import { around } from "../../support/programs/failing-adapter.ts";
import {
  AFTER,
  type Agent,
  BEFORE,
  dockerScene,
  type PowerCutScene,
  processScene,
} from "../../support/programs/power-cut-scenes.ts";

let scene: PowerCutScene;
afterEach(async () => scene.close());

const OLD = () => ({ runs: scene.old, configs: BEFORE });
const NEW = () => ({ runs: scene.job.artifact.fingerprint, configs: AFTER });

async function stateOf({ adapter, disk }: Agent) {
  const folder = `${scene.program.config_dir}/`;
  const files = [...disk()].filter(([path]) => path.startsWith(folder));
  return {
    runs: (await adapter.running())?.fingerprint ?? null,
    configs: Object.fromEntries(files.map(([path, bytes]) => [path.slice(folder.length), bytes.toString()])),
  };
}

/** As an agent does when it comes up. */
async function ensure({ adapter, fs }: Agent, kinds: readonly string[]): Promise<void> {
  const { program, stateDir } = scene;
  const deps = { profile: PROFILE, program, adapter, stateDir, signal: never(), fs };
  expect(kinds).toContain((await ensureRunning(deps)).kind);
}
const RUNS = ["running", "started"];

/** What runs, runs with its own configs; of a mixture nothing runs. */
async function expectWhole(agent: Agent): Promise<void> {
  const { runs, configs } = await stateOf(agent);
  if (runs === null) return;
  const named = Object.entries(configs).filter(([path]) => !path.includes(".fairlead-"));
  expect([OLD(), NEW()]).toContainEqual({ runs, configs: Object.fromEntries(named) });
}

async function expectEnded(agent: Agent, state: unknown): Promise<void> {
  await ensure(agent, RUNS);
  expect(await stateOf(agent)).toEqual(state);
  expect(await agent.adapter.isSupervised()).toBe(true);
  expect(await agent.adapter.measure()).toBe((state as { runs: string }).runs);
  expect(await readCheckpoint(scene.stateDir, PROFILE, agent.fs)).toBeUndefined();
  expect(scene.leftOver(agent)).toEqual([]);
}

const failingNew = (adapter: RuntimeAdapter): RuntimeAdapter =>
  around(adapter, "start", async (work, [request]) => {
    await work();
    if ((request as StartRequest).fingerprint === scene.job.artifact.fingerprint)
      throw new Error("did it start?");
  });

describe.each([
  ["process", processScene],
  ["docker", dockerScene],
] as const)("a power cut at any moment, on a %s program", (_, makeScene) => {
  it("ROLL-6: of an upgrade leaves a whole version or nothing running; then the new one, and the way back to the old", async () => {
    scene = await makeScene();
    const { first } = scene;
    expect(await first.upgrade(first.adapter)).toMatchObject({ verdict: "COMPLETED" });
    expect(first.fs.moments.length).toBeGreaterThan(100);
    const cuts = scene.cuts();
    expect(cuts.length).toBeGreaterThan(80);
    for (const cut of cuts) {
      const agent = scene.after(cut);
      await expectWhole(agent);
      await ensure(agent, [...RUNS, "upgrade_unfinished"]);
      await expectWhole(agent);
      expect(await agent.upgrade(agent.adapter)).toMatchObject({ verdict: "COMPLETED", error: null });
      await expectEnded(agent, NEW());
      const { previous } = (await readActivation(scene.stateDir, PROFILE, agent.fs))!;
      expect(previous).toMatchObject({ fingerprint: scene.old });
      expect(await agent.adapter.readBackup(previous!.backup!)).toMatchObject({
        absent: ["peers/list.toml"],
      });
    }
  });

  it("ROLL-5: of the way back leaves a whole version or nothing running; then the old one", async () => {
    scene = await makeScene();
    const { first } = scene;
    expect(await first.upgrade(failingNew(first.adapter))).toMatchObject({
      verdict: "FAILED",
      compensated: true,
    });
    let takenBack = 0;
    for (const cut of scene.cuts()) {
      const agent = scene.after(cut);
      await ensure(agent, [...RUNS, "upgrade_unfinished"]);
      await expectWhole(agent);
      const wasTakenBack = (await readCheckpoint(scene.stateDir, PROFILE, agent.fs))?.failure != null;
      takenBack += wasTakenBack ? 1 : 0;
      const outcome = await agent.upgrade(failingNew(agent.adapter));
      if (!wasTakenBack && outcome.verdict === "COMPLETED") {
        await expectEnded(agent, NEW()); // the engine had started it again, and nobody had doubted it yet
        continue;
      }
      expect(outcome).toMatchObject({ verdict: "FAILED", compensated: true });
      await expectEnded(agent, OLD());
    }
    expect(takenBack).toBeGreaterThan(30);
  });
});
