/** A shim that is killed under a running program: the agent watches in its place, for as long as it lives. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ShimState, statePath } from "../../../src/agent/shim/files.ts";
import { isAlive } from "../../../src/host/process-identity.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../support/lab/node.ts";
import { killHard } from "../../support/lab/processes.ts";

let lab: Lab;
let node: LabNode;

beforeAll(async () => {
  lab = await startLab();
  [node] = (await addRunningNodes(lab, [{ name: "n1" }])) as [LabNode];
}, 240_000);
afterAll(async () => lab.stop(), 120_000);

const stateNow = async (): Promise<ShimState> =>
  ShimState.parse(
    JSON.parse(await readFile(statePath(join(node.dataDir, "state", "programs", node.profile)), "utf8")),
  );

test("ROLL-6: after SIGKILL of its shim a program goes on, is started again when it ends, and each restart is counted", async () => {
  const first = await node.running();
  for (const round of [1, 2]) {
    const { shim, program } = await stateNow();
    await killHard(shim);
    expect(isAlive(program!)).toBe(true); // nobody stops it for that
    await killHard(program!);
    const next = await eventually(`restart ${round}`, async () => {
      const { instance_id, pid } = await node.running();
      return pid !== program!.pid && { instance_id };
    });
    expect(next.instance_id).not.toBe(first.instance_id);
    expect(await stateNow()).toMatchObject({ restarts: round });
  }
  await eventually("the server hears of both", async () => {
    const { programs } = await lab.operator.node("n1");
    return programs[0]?.restarts === 2;
  });
  const starts = await node.starts();
  expect(new Set(starts).size).toBe(starts.length);
}, 180_000);
