/** Parts of the control plane die in the middle of a batch. Rows are the truth: each rollout goes on from them. */
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAlive } from "../../../src/host/process-identity.ts";
import { embeddedProcesses } from "../../../src/server/embedded/embedded.ts";
import { openHome } from "../../../src/server/embedded/home.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../support/lab/node.ts";
import { killHard } from "../../support/lab/processes.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";

let lab: Lab;
let nodes: LabNode[];
let major = 1;

beforeAll(async () => {
  lab = await startLab({ keepData: true });
  nodes = await addRunningNodes(lab, [{ name: "n1" }, { name: "n2" }, { name: "n3" }]);
}, 200_000);
afterAll(async () => lab.stop(), 120_000);

/** The first batch waits for its artifact when `disturb` is called; the second begins after it. */
async function upgradeThrough(disturb: () => Promise<void>): Promise<void> {
  const from = `${major}.0.0`;
  const to = lab.origin.publish(`${(major += 1)}.0.0`);
  lab.origin.hold();
  const id = await startRollout(lab, { from, to, batchSize: 2, healthWait: "1s" });
  await eventually("the first batch is at work", () => lab.origin.waiting() === 2);
  await disturb();
  expect(await endingOf(lab, id)).toEqual(completed(nodes));
  for (const node of nodes) {
    const { version, instance_id } = await node.running();
    expect(version).toBe(to.version);
    expect(instance_id.startsWith(`${id}.forward.1.`)).toBe(true);
    const starts = await node.starts();
    expect(new Set(starts).size).toBe(starts.length);
  }
}

/** Kills an engine; answers when the supervisor has another one running. */
async function killEngine(name: "postgres" | "restate", before: () => Promise<void> = async () => undefined) {
  const old = (await embeddedProcesses(lab.dataDir))[name]!;
  await before();
  await killHard(old);
  lab.origin.release();
  await eventually(`the supervisor brings ${name} back`, async () => {
    const now = (await embeddedProcesses(lab.dataDir))[name]!;
    return now.pid !== old.pid && isAlive(now);
  });
}

describe("a part of the control plane killed in the middle of a batch", () => {
  test("ROLL-22: the server SIGKILLed mid-batch and started again: the rollout completes", async () => {
    await upgradeThrough(async () => {
      await killHard(lab.server());
      lab.origin.release();
      await lab.startServerAgain();
    });
  }, 200_000);

  test("ROLL-22: PostgreSQL SIGKILLed mid-batch: the supervisor brings it back and the rollout completes", async () => {
    await upgradeThrough(async () => killEngine("postgres"));
  }, 200_000);

  test("ROLL-22: Restate SIGKILLed mid-batch: the supervisor brings it back and the rollout completes", async () => {
    await upgradeThrough(async () => killEngine("restate"));
  }, 200_000);

  test("ROLL-22: Restate's data folder deleted mid-rollout: the rollout completes from the rows alone", async () => {
    const { restateDir } = await openHome(lab.dataDir);
    await upgradeThrough(async () =>
      killEngine("restate", async () => rm(restateDir, { recursive: true, force: true })),
    );
  }, 200_000);
});
