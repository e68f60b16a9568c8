import { afterAll, beforeAll } from "vitest";
import { type Hosts, startHosts } from "../../support/hosts/hosts.ts";
import { unitOn } from "../../support/hosts/unit.ts";
import { machine } from "../../support/programs/machine.ts";
import { adapterContract } from "./suite.ts";

let hosts: Hosts;
beforeAll(async () => void (hosts = await startHosts({ count: 1 })));
afterAll(async () => hosts.stop());

adapterContract("systemd", async () => {
  const [host] = hosts.all;
  return machine(undefined, { parent: host!.shared, surroundings: unitOn(host!) });
});
