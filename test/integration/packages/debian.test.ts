// Server, command line and agent from their Debian packages, on systemd hosts with nothing of the project on them.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type NetworkedHosts, startNetworkedHosts } from "../../support/hosts/hosts.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { builtPackages, debianFile } from "../../support/packages/built.ts";
import { type FreshHost, onFreshHost } from "../../support/packages/fresh-host.ts";

const SERVER = "fairlead-server.service";
const AGENT = "fairlead-agent.service";
const STARTS = "/opt/sample/starts";
/** Writes one line for each of its starts. */
const PROGRAM = `#!/bin/sh\necho $$ >> ${STARTS}\nexec sleep infinity\n`;
const SIGNED_IN = "HOME=/root fairlead";

const Node = z.object({
  last_heartbeat_at: z.string().nullable(),
  programs: z.array(z.object({ running_fingerprint: z.string().nullable() })),
});

let packages: string;
let hosts: NetworkedHosts;
let control: FreshHost;
let machine: FreshHost;
let address: string;
beforeAll(async () => {
  packages = await builtPackages();
  hosts = await startNetworkedHosts({ count: 2, isFresh: true });
  [control, machine] = [onFreshHost(hosts.all[0]!), onFreshHost(hosts.all[1]!)];
  address = hosts.network.addressOf(0);
}, 600_000);
afterAll(() => hosts?.stop());

const isReady = () =>
  eventually(
    "the server is ready",
    async () => (await control.sh("curl -sf http://127.0.0.1:7400/healthz")) !== "",
  );

const starts = async (): Promise<number> => Number(await machine.sh(`wc -l < ${STARTS}`));

/** The server has heard of the program, after `since`. */
const reportedAfter = (since: number) =>
  eventually("the node reports its program", async () => {
    const found = Node.parse(JSON.parse(await control.sh(`${SIGNED_IN} node show machine --json`)));
    const heard = Date.parse(found.last_heartbeat_at ?? "1970-01-01T00:00:00Z");
    return heard > since && found.programs[0]?.running_fingerprint != null;
  });

describe("USE-7: packages on fresh systemd hosts", () => {
  test("the server's package brings a user, a unit and engines, and a site is initialised on it", async () => {
    await control.install(debianFile(packages, "fairlead-server"), debianFile(packages, "fairlead"));
    await isReady();
    expect(await control.show(SERVER, "User")).toBe("fairlead");
    expect(await control.show(SERVER, "UnitFileState")).toBe("enabled");
    expect(await control.sh("stat -c '%U %a' /var/lib/fairlead /etc/default/fairlead-server")).toBe(
      "fairlead 700\nroot 600",
    );
    const flags = `--embedded --name ${address} --agent-listen ${address}:7401 --enroll-listen ${address}:7402`;
    await control.sh(`echo 'FAIRLEAD_SERVER_FLAGS="${flags}"' > /etc/default/fairlead-server`);
    await control.sh(`systemctl restart ${SERVER}`);
    await isReady();
    await control.sh(
      `${SIGNED_IN} init --server http://127.0.0.1:7400 --first-run-secret-file /var/lib/fairlead/first-run-secret --keys-dir $HOME/keys`,
    );
    expect(await control.sh(`${SIGNED_IN} server --help`)).toContain("Usage: fairlead server");
    expect(await control.sh("curl -s http://127.0.0.1:7400/")).toContain("<!doctype html>");
  }, 300_000);

  test("the agent's package starts nothing without a config, and runs a program in a scope with one", async () => {
    await machine.install(debianFile(packages, "fairlead-agent"));
    expect(await machine.show(AGENT, "ActiveState")).toBe("inactive");
    expect(await machine.show(AGENT, "UnitFileState")).toBe("enabled");
    const token = await control.sh(
      `${SIGNED_IN} node token --name machine --profile sample --type edge --out $HOME/token >/dev/null && cat $HOME/token`,
    );
    await machine.write("/etc/fairlead/token", token);
    await machine.write("/opt/sample/bin/sample", PROGRAM, 0o755);
    await machine.sh("mkdir -p /opt/sample/data /opt/sample/config");
    const program = {
      install_path: "/opt/sample/bin/sample",
      data_dir: "/opt/sample/data",
      config_dir: "/opt/sample/config",
      version: "1.0.0",
      health: { url: "http://127.0.0.1:1/" },
    };
    const config = {
      data_dir: "/var/lib/fairlead-agent",
      enroll_url: `https://${address}:7402`,
      token_file: "/etc/fairlead/token",
      programs: { sample: program },
    };
    await machine.write("/etc/fairlead/agent.yaml", JSON.stringify(config));
    await machine.sh(`systemctl start ${AGENT}`);
    await reportedAfter(0);
    expect(await starts()).toBe(1);
    expect(await machine.sh(`cat /proc/$(head -1 ${STARTS})/cgroup`)).toMatch(/fairlead\.slice\/.*\.scope/);
  }, 300_000);

  test("a restart, a kill and an upgrade of the agent's package leave its program alone", async () => {
    const pid = await machine.show(AGENT, "MainPID");
    await machine.sh(`systemctl restart ${AGENT}`);
    await machine.sh(`systemctl kill --signal=SIGKILL --kill-who=main ${AGENT}`);
    await machine.install(debianFile(packages, "fairlead-agent"));
    const installed = Date.now();
    await eventually("the agent runs", async () => (await machine.show(AGENT, "ActiveState")) === "active");
    expect(await machine.show(AGENT, "MainPID")).not.toBe(pid);
    await reportedAfter(installed);
    expect(await starts()).toBe(1);
  }, 300_000);

  test("an upgrade of the server's package keeps its configuration, its data and its nodes", async () => {
    const before = await control.show(SERVER, "MainPID");
    await control.install(debianFile(packages, "fairlead-server"));
    const upgraded = Date.now();
    await isReady();
    expect(await control.show(SERVER, "MainPID")).not.toBe(before);
    expect(await control.sh("cat /etc/default/fairlead-server")).toContain(address);
    await reportedAfter(upgraded);
  }, 300_000);

  test("removed and purged packages leave the program running, and keys and data on the disk", async () => {
    await machine.sh("dpkg --purge fairlead-agent");
    expect(await machine.sh(`systemctl is-active ${AGENT} || true`)).toBe("inactive");
    await machine.sh(`kill -0 $(head -1 ${STARTS})`);
    expect(await starts()).toBe(1);
    await machine.sh("test -d /var/lib/fairlead-agent && test -f /etc/fairlead/agent.yaml");
    await control.sh("dpkg --remove fairlead-server");
    expect(await control.sh(`systemctl is-active ${SERVER} || true`)).toBe("inactive");
    expect(await control.sh("cat /etc/default/fairlead-server")).toContain(address);
    await control.sh("dpkg --purge fairlead-server");
    await control.sh("test ! -e /etc/default/fairlead-server && test -d /var/lib/fairlead/keys");
    expect(await control.sh("pgrep -u fairlead | wc -l")).toBe("0");
  }, 300_000);
});
