/** A machine that reboots while the control plane is away: its program comes up, and the control plane hears of it. */
import { run } from "../../../src/host/process.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../support/lab/node.ts";
import { killHard, processesAround } from "../../support/lab/processes.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";

let lab: Lab;
let node: LabNode;

beforeAll(async () => {
  lab = await startLab({ keepData: true });
  [node] = (await addRunningNodes(lab, [{ name: "n1" }])) as [LabNode];
  const id = await startRollout(lab, { from: "1.0.0", to: lab.origin.publish("2.0.0") });
  expect(await endingOf(lab, id)).toEqual(completed([node]));
}, 240_000);
afterAll(async () => lab.stop(), 120_000);

/** Every process of the machine ends at once. */
async function powerCut(): Promise<void> {
  for (const { identity } of await processesAround([node.folder])) await killHard(identity);
}

test("SNAP-9: without a policy and without the control plane, a rebooted machine starts what it last ran, and tells it later", async () => {
  const before = await node.running();
  await killHard(lab.server());
  await powerCut();
  await node.startAgent();
  const after = await node.running();
  expect([after.version, after.instance_id === before.instance_id]).toEqual(["2.0.0", false]);

  const args = [FAIRLEAD, "agent", "--config", node.configPath, "--status"];
  await eventually("the status tells it", async () => {
    const status = await run(NODE, args, { env: commandEnv(lab.home), timeoutMs: 60_000 });
    return (
      status.kind === "exited" &&
      /on its own\n {2}hello .*started without the control plane/.test(status.stdout.toString())
    );
  });

  await lab.startServerAgain();
  const told = await eventually("the server has heard of it", async () => {
    const { programs } = await lab.operator.node("n1");
    return programs[0]?.started_alone;
  });
  expect(told.expired_since).toBeNull();
  const shown = await lab.operator.fairlead("node", "show", "n1");
  expect(shown.out).toContain("started without the control plane, at ");
}, 180_000);
