/**
 * SIGKILL of a real process when the engine has done what it was asked for and before the answer is there, then a new
 * one that finishes the job. Kills around everything else: test/integration/agent-upgrade/kill-docker.test.ts.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { resumable } from "../../../src/agent/upgrade/checkpoints.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { containersOf } from "../../support/docker/containers.ts";
import { type HelloImages, helloImages } from "../../support/docker/hello-images.ts";
import { killAgent } from "../../support/docker/killed-agent.ts";
import { type DockerLab, dockerLab } from "../../support/docker/lab.ts";
import { type DockerMachine, dockerMachine } from "../../support/docker/machine.ts";
import { stoppingEngine } from "../../support/docker/stopping-engine.ts";

const BEFORE = { "app.toml": "level = 1\n" };
const AFTER = { "app.toml": "level = 2\n", "peers.toml": "new\n" };

/** Every change that an upgrade asks of the engine, in order. */
const CHANGES = {
  "the pull": /^POST \/images\/create/,
  "taking the restart policy": /^POST \/containers\/\w+\/update/,
  "the stop": /^POST \/containers\/\w+\/stop/,
  "setting the old container aside": /^POST \/containers\/\w+\/rename/,
  "making the new container": /^POST \/containers\/create/,
  "the start": /^POST \/containers\/\w+\/start/,
} as const;

describe("an agent killed while it upgrades a container", () => {
  let lab: DockerLab;
  let images: HelloImages;
  let m: DockerMachine;
  beforeAll(async () => {
    lab = await dockerLab();
    images = await helloImages(lab);
  });
  afterAll(async () => lab.close());
  beforeEach(async () => {
    m = await dockerMachine(lab, images);
    await m.provision("1.0.0", BEFORE);
  });
  afterEach(async () => m.close());

  async function expectFinished(job: UpgradeJob): Promise<void> {
    expect(await resumable(m.stateDir)).toEqual([job]);
    expect(await m.upgrade(job)).toMatchObject({ verdict: "COMPLETED", error: null });
    expect((await m.version()).version).toBe("2.0.0");
    expect(await m.configs()).toEqual(AFTER);
    expect(await m.leftOver()).toEqual([]);
    expect(await resumable(m.stateDir)).toEqual([]);
    expect(await m.starts()).toEqual([
      expect.stringMatching(/ 1\.0\.0$/),
      expect.stringMatching(/ 2\.0\.0$/),
    ]);
  }

  it("ROLL-8: asks the engine for these changes and no other", async () => {
    const socket = `${m.root}/engine.sock`;
    const engine = await stoppingEngine(socket, lab.socketPath);
    const through = await dockerMachine(lab, images, { local: { engine_socket: socket } });
    try {
      await through.provision("1.0.0", BEFORE);
      engine.changes.length = 0;
      await through.upgrade(through.job({ version: "2.0.0", configs: AFTER }));
      const [last, ...others] = engine.changes.toReversed();
      expect(last).toMatch(CHANGES["the start"]);
      expect(others.shift()).toMatch(/update/); // the new one gets its restart policy back first
      const expected = Object.values(CHANGES).slice(0, -1);
      expect(others).toHaveLength(expected.length);
      others.toReversed().forEach((change, index) => expect(change).toMatch(expected[index]!));
    } finally {
      await through.close();
      await engine.close();
    }
  });

  it.each(Object.entries(CHANGES))("ROLL-6: after %s, the next agent ends at the target", async (_, at) => {
    const job = m.job({ version: "2.0.0", configs: AFTER });
    await killAgent(m, job, { at, when: "after" });
    await expectFinished(job);
  });

  it.each([
    ["the new container is removed", /^DELETE \/containers\//],
    ["the old one has its name again", /^POST \/containers\/\w+\/rename\?name=hello-\d+$/],
  ])("ROLL-5: while it is taken back, after %s, the next agent takes it back to the end", async (_, at) => {
    const installed = await m.installed();
    const job = m.job({ version: "2.0.0", configs: AFTER, crashing: true });
    await killAgent(m, job, { at, when: "after" });
    expect(await m.upgrade(job)).toMatchObject({
      verdict: "FAILED",
      compensated: true,
      error: { code: "PROGRAM_NOT_RUNNING", action: "start_node" },
    });
    expect(await m.installed()).toBe(installed);
    expect(await m.configs()).toEqual(BEFORE);
    expect((await m.version()).version).toBe("1.0.0");
    expect(await m.leftOver()).toEqual([]);
    expect((await containersOf(lab.api, m.program.container)).all).toHaveLength(1);
  });
});
