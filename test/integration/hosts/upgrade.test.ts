/** A rollout over real systemd hosts, each in a network of its own: what an operator of such machines would see. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addRunningHostNodes, type HostNode } from "../../support/hosts/node.ts";
import { type NetworkedHosts, startNetworkedHosts } from "../../support/hosts/hosts.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { type Lab, startLab } from "../../support/lab/lab.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";

let hosts: NetworkedHosts;
let lab: Lab;
let nodes: HostNode[];
beforeAll(async () => {
  hosts = await startNetworkedHosts({ count: 2 });
  lab = await startLab({ network: hosts.network });
  nodes = await addRunningHostNodes(lab, hosts.all);
}, 300_000);
afterAll(async () => {
  await lab?.stop();
  await hosts?.stop();
}, 120_000);

describe("real systemd hosts", () => {
  it("ROLL-8: are upgraded by their agents, each program started once", async () => {
    const to = lab.origin.publish("2.0.0");
    const id = await startRollout(lab, { from: "1.0.0", to, batchSize: 1 });
    expect(await endingOf(lab, id)).toEqual(completed(nodes));
    for (const node of nodes) {
      expect(await node.installed()).toBe(to.checksum);
      const { version, instance_id } = await node.running();
      expect(version).toBe("2.0.0");
      expect(instance_id).toMatch(new RegExp(`^${id}\\.forward\\.1\\.`));
      expect(new Set(await node.starts()).size).toBe((await node.starts()).length);
    }
  }, 300_000);

  it("ROLL-6: one that loses power and one whose agent is killed in the middle get there all the same", async () => {
    const [first, second] = nodes as [HostNode, HostNode];
    const to = lab.origin.publish("3.0.0");
    lab.origin.hold();
    const id = await startRollout(lab, { from: "2.0.0", to });
    await eventually("both fetch", async () => lab.origin.waiting() === 2);
    await first.host.cutPower();
    await second.killAgent();
    lab.origin.release();
    await first.host.boot();
    expect(await endingOf(lab, id)).toEqual(completed(nodes));
    for (const node of nodes) {
      expect((await node.running()).version).toBe("3.0.0");
      expect(new Set(await node.starts()).size).toBe((await node.starts()).length);
    }
  }, 300_000);

  it("ROLL-5: a version that does not start is taken back on each, and the rollout says why", async () => {
    const to = lab.origin.publish("4.0.0", { program: "#!/bin/sh\nexit 7\n" });
    const id = await startRollout(lab, { from: "3.0.0", to });
    const { status, why, nodes: ended } = await endingOf(lab, id);
    expect({ status, why }).toEqual({ status: "paused", why: "THRESHOLD_EXCEEDED" });
    for (const node of nodes) {
      // systemd may have started it again by the time that its agent looks: then that is what is told.
      expect(ended[node.name]).toMatch(/^failed PROGRAM_NOT_RUNNING: .*(code 7|times again)/);
      expect((await node.running()).version).toBe("3.0.0");
    }
  }, 300_000);
});
