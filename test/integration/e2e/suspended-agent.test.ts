/** An agent that is suspended while it fetches, for longer than a fetch may stall (ROLL-30). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { sleep } from "../../../src/host/clock.ts";
import { killProcess, type ProcessIdentity } from "../../../src/host/process-identity.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addNode, type LabNode } from "../../support/lab/node.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";

/** Longer than the 15 s after which a fetch without progress is given up. */
const SUSPENDED_MS = 16_000;

let lab: Lab;
let node: LabNode;
let agent: ProcessIdentity;

beforeAll(async () => {
  lab = await startLab();
  node = await addNode(lab, { name: "n1" });
  agent = await node.startAgent();
  await node.reported();
}, 240_000);
afterAll(async () => lab.stop(), 120_000);

test("ROLL-30: an agent that is suspended during its fetch tries again, and its node does not fail", async () => {
  lab.origin.hold();
  const id = await startRollout(lab, { from: "1.0.0", to: lab.origin.publish("2.0.0") });
  await eventually("it fetches", () => lab.origin.waiting() === 1);
  killProcess(agent, "SIGSTOP");
  await sleep(SUSPENDED_MS); // the time that passes is what is tested
  killProcess(agent, "SIGCONT");
  await eventually("it fetches once more", () => lab.origin.waiting() === 2);
  lab.origin.release();
  expect(await endingOf(lab, id)).toEqual(completed([node]));
  expect((await node.running()).version).toBe("2.0.0");
}, 180_000);
