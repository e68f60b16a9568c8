/** What goes wrong around a unit: links, a systemctl that hangs, a power cut in the middle of it all. */
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { SYSTEMCTL_LIMITS } from "../../../src/agent/upgrade/adapters/systemd/systemctl.ts";
import type { ActionName } from "../../../src/core/upgrade/phases.ts";
import type { Host } from "../../support/hosts/host.ts";
import { type Hosts, startHosts } from "../../support/hosts/hosts.ts";
import { systemdMachine, type SystemdMachine } from "../../support/hosts/systemd-machine.ts";
import { never } from "../../support/programs/contract-machine.ts";
import { failingAlways, failingOnce } from "../../support/programs/failing-adapter.ts";

const BEFORE = { "app.toml": "level = 1\n" };
const AFTER = { "app.toml": "level = 2\n" };

let hosts: Hosts;
let host: Host;
let m: SystemdMachine;
beforeAll(async () => {
  hosts = await startHosts({ count: 1 });
  [host] = hosts.all as [Host];
});
afterAll(async () => hosts.stop());
afterEach(async () => m.close());

const dropIns = (): string => join(m.place.systemd!.systemdDir, `${m.unit}.d`);

describe("a unit's drop-ins", () => {
  it("ROLL-8: are not written through a link in place of their folder", async () => {
    m = await systemdMachine(host);
    const elsewhere = join(m.root, "elsewhere");
    await mkdir(elsewhere);
    await symlink(elsewhere, dropIns());
    await expect(m.provision("1.0.0")).rejects.toMatchObject({ code: "PATH_REFUSED" });
    expect(await readdir(elsewhere)).toEqual([]);
    await rm(dropIns());
  });

  it("ROLL-8: are not read through a link in their place", async () => {
    m = await systemdMachine(host);
    await mkdir(dropIns());
    const other = join(m.root, "other");
    await writeFile(other, "text of another file");
    await symlink(other, join(dropIns(), "50-fairlead.conf"));
    await expect(m.provision("1.0.0")).rejects.toMatchObject({ code: "PATH_REFUSED" });
    expect(await readFile(other, "utf8")).toBe("text of another file");
    await rm(dropIns(), { recursive: true });
  });

  it("ROLL-8: are the only thing that Fairlead adds to systemd's folder, and the unit stays as it is", async () => {
    m = await systemdMachine(host);
    const unit = join(m.place.systemd!.systemdDir, m.unit);
    const before = await readFile(unit, "utf8");
    await m.provision("1.0.0", BEFORE);
    await m.upgrade(m.job({ version: "2.0.0", configs: AFTER }));
    expect(await readFile(unit, "utf8")).toBe(before);
    expect(await readdir(dropIns())).toEqual(["50-fairlead.conf"]);
    await m.adapter().stop(never());
    expect(await readdir(dropIns())).toEqual(["50-fairlead.conf", "90-fairlead-stopped.conf"]);
  });
});

describe("a systemctl that hangs", () => {
  /** The real one, but for the first time it is asked this. */
  async function hangingOnceAt(verb: string): Promise<void> {
    const limits = { ...SYSTEMCTL_LIMITS, startMs: 1_500, reloadMs: 1_500 };
    m = await systemdMachine(host, {
      adapter: ({ stateDir }, { command }) => ({
        command: [join(stateDir, "systemctl"), ...command],
        limits,
      }),
    });
    const lines = [
      "#!/bin/sh",
      `case " $* " in *" ${verb} "*) [ -e ${m.root}/armed ] && rm ${m.root}/armed && exec sleep 600 ;; esac`,
      'exec "$@"',
      "",
    ];
    await writeFile(join(m.stateDir, "systemctl"), lines.join("\n"), { mode: 0o755 });
    await m.provision("1.0.0", BEFORE);
  }

  it.each<[string, ActionName]>([
    ["start", "start_node"],
    ["daemon-reload", "stop_node"],
    ["daemon-reload", "reload_daemon"],
  ])("ROLL-5: at %s in %s fails the upgrade, which is then taken back", async (verb, action) => {
    await hangingOnceAt(verb);
    const installed = await m.installed();
    const onProgress = async ({ action_name }: { readonly action_name: ActionName }): Promise<void> => {
      if (action_name === action) await writeFile(join(m.root, "armed"), "");
    };
    expect(await m.upgrade(m.job({ version: "2.0.0", configs: AFTER }), { onProgress })).toMatchObject({
      verdict: "FAILED",
      compensated: true,
      error: { code: "RUNTIME_UNRESPONSIVE", action },
    });
    expect(await m.installed()).toBe(installed);
    expect(await m.configs()).toEqual(BEFORE);
    expect((await m.version()).version).toBe("1.0.0");
  });
});

describe("a host that loses power", () => {
  const enabled = async (): Promise<void> => {
    await host.exec("systemctl", "enable", m.unit);
  };
  async function reboot(): Promise<void> {
    await host.cutPower();
    await host.boot();
  }

  it("ROLL-6: in the middle of an upgrade does not start half of it by itself; the agent ends it", async () => {
    m = await systemdMachine(host);
    await m.provision("1.0.0", BEFORE);
    await enabled();
    const job = m.job({ version: "2.0.0", configs: AFTER });
    const leaving = new AbortController();
    const upgrade = m.upgrade(job, {
      signal: leaving.signal,
      onProgress: ({ action_name }) => {
        if (action_name === "write_configs") leaving.abort(new Error("the power is cut"));
      },
    });
    await expect(upgrade).rejects.toThrow("the power is cut");
    await reboot();
    expect(await m.installed()).toBe(job.artifact.fingerprint);
    expect(await m.adapter().isRunning()).toBe(false);
    expect(await m.upgrade(job)).toMatchObject({ verdict: "COMPLETED" });
    expect((await m.version()).version).toBe("2.0.0");
    expect(await m.configs()).toEqual(AFTER);
  });

  it("ROLL-8: starts what was activated last, when its unit is enabled", async () => {
    m = await systemdMachine(host);
    await m.provision("1.0.0", BEFORE);
    await enabled();
    const { instance_id } = await m.upgrade(m.job({ version: "2.0.0", configs: AFTER }));
    await reboot();
    expect((await m.version()).version).toBe("2.0.0");
    const running = (await m.adapter().running())!;
    expect(running.fingerprint).toBe(await m.installed());
    expect(running.instance_id).toMatch(new RegExp(`^${instance_id}\\.[0-9a-f]{12}$`));
  });

  it("ROLL-5: after an upgrade that could not be taken back starts nothing: a person must look", async () => {
    m = await systemdMachine(host);
    await m.provision("1.0.0", BEFORE);
    await enabled();
    const adapter = failingAlways(failingOnce(m.adapter(), "start", "after"), "restore");
    expect(await m.upgrade(m.job({ version: "2.0.0" }), { adapter })).toMatchObject({
      verdict: "FAILED_ROLLBACK",
    });
    await reboot();
    expect(await m.adapter().isRunning()).toBe(false);
    const byHand = await host.exec("systemctl", "start", m.unit);
    expect(byHand).toMatchObject({ kind: "exited", code: 1 });
  });
});
