/** What systemd does with a program by itself, and what the agent says of it. */
import { chmod, copyFile, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { RunSpec } from "../../../src/core/upgrade/job.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import type { Host } from "../../support/hosts/host.ts";
import { type Hosts, startHosts } from "../../support/hosts/hosts.ts";
import {
  systemdMachine,
  type SystemdMachine,
  type SystemdMachineOptions,
} from "../../support/hosts/systemd-machine.ts";
import { never } from "../../support/programs/contract-machine.ts";
import { until } from "../../support/programs/until.ts";

let hosts: Hosts;
let host: Host;
let m: SystemdMachine;
beforeAll(async () => {
  hosts = await startHosts({ count: 1 });
  [host] = hosts.all as [Host];
});
afterAll(async () => hosts.stop());
afterEach(async () => m.close());

const fresh = async (options?: SystemdMachineOptions): Promise<SystemdMachine> =>
  (m = await systemdMachine(host, options));

async function put(bytes: string): Promise<void> {
  await writeFile(`${m.program.install_path}.new`, bytes);
  await chmod(`${m.program.install_path}.new`, 0o755);
  await rename(`${m.program.install_path}.new`, m.program.install_path);
}

let keys = 0;
async function start(args: readonly string[] = []): Promise<void> {
  const fingerprint = digestOf(await readFile(m.program.install_path));
  const run = RunSpec.parse({ args, env: m.program.run.env });
  await m.adapter().start({ key: `k${++keys}.forward.1`, fingerprint, run }, never());
}

describe("a program under systemd", () => {
  it("ROLL-15: that crashes again and again is seen to, also when systemd has given it up", async () => {
    await fresh({ service: ["RestartSec=10ms"] });
    await put(`#!/bin/sh\n[ -e ${m.root}/crash ] && exit 3\nsleep 1000 &\nwait\n`);
    await start();
    expect(await m.adapter().supervision()).toMatchObject({ restarts: 0, last_exit: null });
    await writeFile(join(m.root, "crash"), "");
    await host.exec("systemctl", "kill", "--signal=SIGKILL", m.unit);
    await until("systemd gives it up", async () => !(await m.adapter().isRunning()));
    const seen = await m.adapter().supervision();
    expect(seen.running).toBeNull();
    expect(seen.restarts).toBeGreaterThanOrEqual(3);
    expect(seen.last_exit).toMatchObject({ code: 3 });
  });

  it("ROLL-8: can be started on purpose after that, and its restarts count from there", async () => {
    await fresh({ service: ["RestartSec=10ms"] });
    await put(`#!/bin/sh\nexit 3\n`);
    await expect(start()).rejects.toMatchObject({ code: "PROGRAM_NOT_RUNNING" });
    await until("systemd gives it up", async () => !(await m.adapter().isRunning()));
    await put(`#!/bin/sh\nexec sleep 1000\n`);
    await start();
    expect(await m.adapter().supervision()).toMatchObject({ running: { restarts: 0 }, restarts: 0 });
  });

  it("ROLL-6: has another instance id when systemd, or a person, started it again", async () => {
    await fresh({ service: ["RestartSec=10ms"] });
    await put(`#!/bin/sh\nexec sleep 1000\n`);
    await start();
    const first = (await m.adapter().running())!;
    await host.exec("systemctl", "kill", "--signal=SIGKILL", m.unit);
    const second = await until("it runs again", async () => {
      const running = await m.adapter().running();
      return running !== null && running.pid !== first.pid && running;
    });
    expect(second).toMatchObject({ restarts: 1, fingerprint: first.fingerprint });
    expect(second.instance_id).toMatch(new RegExp(`^${first.instance_id}\\.[0-9a-f]{12}$`));
    await host.exec("systemctl", "restart", m.unit);
    const third = (await m.adapter().running())!;
    expect(new Set([first, second, third].map(({ instance_id }) => instance_id)).size).toBe(3);
  });

  it("ROLL-15: that is a script is known by the bytes it was started from, whatever lies there now", async () => {
    await fresh();
    await put("#!/bin/sh\nexec sleep 1000 # one\n");
    await start();
    const first = (await m.adapter().running())!.fingerprint;
    await put("#!/bin/sh\nexec sleep 1000 # two\n");
    expect((await m.adapter().running())!.fingerprint).toBe(first);
    expect(await m.installed()).not.toBe(first);
    await host.exec("systemctl", "restart", m.unit);
    const restarted = await until(
      "it is known again",
      async () => (await m.adapter().running()) ?? undefined,
    );
    expect(restarted.fingerprint).toBe(await m.installed());
  });

  it("ROLL-15: a script that was changed after systemd started it by itself is not known, and said to be", async () => {
    await fresh();
    await put("#!/bin/sh\nexec sleep 1000 # one\n");
    await start();
    await host.exec("systemctl", "restart", m.unit);
    await put("#!/bin/sh\nexec sleep 1000 # two\n");
    expect(await m.adapter().running()).toBeNull();
    expect(await m.adapter().isRunning()).toBe(true);
  });

  it("ROLL-15: that is a binary is known by what the kernel executes, also when its file was replaced", async () => {
    await fresh();
    await copyFile("/usr/bin/sleep", m.program.install_path);
    await start(["1000"]);
    const bytes = digestOf(await readFile("/usr/bin/sleep"));
    expect(await m.adapter().running()).toMatchObject({ fingerprint: bytes });
    await put("#!/bin/sh\nexec sleep 1000\n");
    expect(await m.adapter().running()).toMatchObject({ fingerprint: bytes });
  });

  it("ROLL-8: that says when it is ready has started then, and not before", async () => {
    await fresh({ type: "notify", service: ["NotifyAccess=all"] });
    await put(
      `#!/bin/sh\nuntil [ -e ${m.root}/ready ]; do sleep 0.02; done\nsystemd-notify --ready\nexec sleep 1000\n`,
    );
    let settled = false;
    const starting = start().then(() => (settled = true));
    await until("its process is there", async () => (await m.adapter().supervision()).running !== null);
    expect(settled).toBe(false);
    await writeFile(join(m.root, "ready"), "");
    await starting;
    expect(await m.adapter().running()).not.toBeNull();
  });

  it("ROLL-5: that never gets ready has not started", async () => {
    await fresh({ type: "notify", service: ["TimeoutStartSec=500ms"], restart: "no" });
    await put("#!/bin/sh\nexec sleep 1000\n");
    await expect(start()).rejects.toMatchObject({ code: "PROGRAM_NOT_RUNNING" });
  });

  it("ROLL-8: that ignores SIGTERM is killed after its grace, with all it started", async () => {
    await fresh({ service: ["TimeoutStopSec=600"] });
    Object.assign(m.program, { stop_grace_ms: 500 });
    await put(
      `#!/bin/sh\ntrap '' TERM\n(trap '' TERM; while :; do sleep 1; done) &\nwhile :; do sleep 1; done\n`,
    );
    await start();
    await m.adapter().stop(never());
    expect(await m.adapter().isRunning()).toBe(false);
    const left = await host.exec("pgrep", "-f", m.program.install_path);
    expect(left).toMatchObject({ kind: "exited", code: 1 });
  });
});
