/** An agent that starts while the disk with its state is full: under the unit that everybody writes, with systemd's own limits. */
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildAgent } from "../../../scripts/build.mjs";
import { FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { fillDisk } from "../../support/hosts/disk.ts";
import type { Host } from "../../support/hosts/host.ts";
import { type Hosts, startHosts } from "../../support/hosts/hosts.ts";
import { eventually } from "../../support/lab/eventually.ts";

const UNIT = "fairlead-agent.service";

let hosts: Hosts;
let host: Host;
beforeAll(async () => {
  await buildAgent();
  hosts = await startHosts({ count: 1, diskBytes: 1024 * 1024 });
  [host] = hosts.all as [Host];
});
afterAll(async () => hosts.stop());

async function shown(property: string): Promise<string> {
  const answer = await host.exec("systemctl", "show", UNIT, "--value", "--property", property);
  return "stdout" in answer ? answer.stdout.toString().trim() : answer.kind;
}

it("ROLL-8: an agent that starts on a full disk waits for space, and goes on once there is some", async () => {
  const dataDir = join(host.shared, "agent");
  const ballast = join(host.shared, "ballast");
  await mkdir(dataDir, { mode: 0o700 });
  const config = { data_dir: dataDir, enroll_url: "https://127.0.0.1:1", programs: {} };
  await writeFile(join(host.root, "etc/agent.json"), JSON.stringify(config), { mode: 0o600 });
  const unit = [
    ["[Unit]", "Description=Fairlead agent", "[Service]", "Environment=HOME=/root", "Restart=always"],
    [`ExecStart=${NODE} ${FAIRLEAD} agent --config /etc/agent.json`, ""],
  ].flat();
  await writeFile(join(host.root, `etc/systemd/system/${UNIT}`), unit.join("\n"));
  await fillDisk(ballast);

  await host.exec("systemctl", "start", UNIT);
  await eventually("the agent says that it waits", async () =>
    (await host.tell(UNIT)).includes("the disk is full; waiting for space"),
  );
  expect([await shown("ActiveState"), await shown("NRestarts")]).toEqual(["active", "0"]);
  expect(existsSync(join(dataDir, "agent.lock.1"))).toBe(false);

  await rm(ballast);
  await eventually("the agent has claimed its folder", () => existsSync(join(dataDir, "agent.lock.1")));
}, 120_000);
