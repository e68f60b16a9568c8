/** A site whose logs lie on a full disk: every write of server and agent to stderr fails with ENOSPC. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { isAlive, type ProcessIdentity } from "../../../src/host/process-identity.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addNode, type LabNode } from "../../support/lab/node.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";

const FULL = "/dev/full";

let lab: Lab;
let node: LabNode;
let agent: ProcessIdentity;

beforeAll(async () => {
  lab = await startLab({ serverStderr: FULL });
  node = await addNode(lab, { name: "n1" });
  agent = await node.startAgent({ stderr: FULL });
  await node.reported();
}, 180_000);
afterAll(async () => lab.stop(), 120_000);

test("ROLL-5: a rollout completes while server and agent cannot write their logs", async () => {
  const id = await startRollout(lab, { from: "1.0.0", to: lab.origin.publish("2.0.0") });
  expect(await endingOf(lab, id)).toEqual(completed([node]));
  expect((await node.running()).version).toBe("2.0.0");
  expect([isAlive(lab.server()), isAlive(agent)]).toEqual([true, true]);
});
