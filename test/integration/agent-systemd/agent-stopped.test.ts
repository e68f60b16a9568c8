/** An agent under the unit that everybody writes (KillMode=control-group): stopping it stops no program of its shims. */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type NetworkedHosts, startNetworkedHosts } from "../../support/hosts/hosts.ts";
import { addHostNode, type HostNode } from "../../support/hosts/node.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { type Lab, startLab } from "../../support/lab/lab.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";

let hosts: NetworkedHosts;
let lab: Lab;
let node: HostNode;
beforeAll(async () => {
  hosts = await startNetworkedHosts({ count: 2 });
  lab = await startLab({ network: hosts.network });
  node = await addHostNode(lab, hosts.all[0]!, { name: "host-1", runtime: "process" });
  await node.startAgent();
  await node.reported();
}, 300_000);
afterAll(async () => {
  await lab?.stop();
  await hosts?.stop();
}, 120_000);

async function said(...command: readonly [string, ...string[]]): Promise<string> {
  const ran = await node.host.exec(...command);
  return "stdout" in ran ? ran.stdout.toString().trim() : ran.kind;
}

it("ROLL-6: stopped, restarted and upgraded under KillMode=control-group, the agent leaves its programs running", async () => {
  expect(await said("systemctl", "show", "--property=KillMode", "--value", node.agentUnit)).toBe(
    "control-group",
  );
  const first = await node.running();
  await node.stopAgent();
  expect(await said("systemctl", "is-active", node.agentUnit)).not.toBe("active");
  expect(await node.running()).toEqual(first);

  await node.startAgent();
  expect(await said("systemctl", "restart", node.agentUnit)).toBe("");
  await node.reported();
  expect(await node.running()).toEqual(first); // found running, and left alone

  const to = lab.origin.publish("2.0.0");
  const id = await startRollout(lab, { from: "1.0.0", to });
  expect(await endingOf(lab, id)).toEqual(completed([node]));
  const second = await node.running();
  expect(second.version).toBe("2.0.0");
  await node.stopAgent();
  expect(await node.running()).toEqual(second);
  expect(await said("systemctl", "show", "--property=Slice", "--value", await scopeOf(second.pid))).toBe(
    "fairlead.slice",
  );
}, 300_000);

async function scopeOf(pid: number): Promise<string> {
  const cgroups = await said("cat", `/proc/${pid}/cgroup`);
  return /\/([^/\n]+\.scope)$/m.exec(cgroups)![1]!;
}

it("ROLL-6: where no scope can be made the agent refuses to run, unless its unit leaves programs alone", async () => {
  const [, host] = hosts.all;
  const broken = join(host!.root, "opt/broken");
  await mkdir(broken, { recursive: true });
  await writeFile(join(broken, "systemd-run"), "#!/bin/sh\necho no scopes here >&2\nexit 1\n");
  await chmod(join(broken, "systemd-run"), 0o755);
  const options = {
    name: "host-2",
    runtime: "process",
    agentService: ["Environment=PATH=/opt/broken:/usr/local/bin:/usr/bin:/bin"],
  } as const;
  const refused = await addHostNode(lab, host!, options);
  await refused.startAgent();
  await eventually("it says why", async () => {
    const log = await refused.agentLog();
    return (
      log.includes("error AGENT_STOP_KILLS: stopping fairlead-agent.service would stop its programs") &&
      log.includes("no scopes here")
    );
  });
  expect(await refused.starts()).toEqual([]);
  await refused.stopAgent();

  const left = await addHostNode(lab, host!, {
    ...options,
    name: "host-3",
    agentService: [...options.agentService, "KillMode=process"],
  });
  await left.startAgent();
  await left.reported();
  const running = await left.running();
  await left.stopAgent();
  expect(await left.running()).toEqual(running);
}, 300_000);
