/** A systemctl that does not behave, in place of the real one: what the agent makes of it. */
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPrograms } from "../../../src/agent/programs/programs.ts";
import { ProgramConfig, type SystemdProgram } from "../../../src/agent/programs/config.ts";
import { systemdAdapter } from "../../../src/agent/upgrade/adapters/systemd/index.ts";
import { systemctl } from "../../../src/agent/upgrade/adapters/systemd/systemctl.ts";
import { parseUnitState } from "../../../src/agent/upgrade/adapters/systemd/unit-state.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { isAlive, identityOf } from "../../../src/host/process-identity.ts";
import { never, PROFILE } from "../../support/programs/contract-machine.ts";
import { until } from "../../support/programs/until.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "fairlead-systemctl-"))));
afterEach(async () => rm(folder, { recursive: true, force: true }));

const LIMITS = { showMs: 300, reloadMs: 300, startMs: 300 };

async function fake(...lines: readonly string[]) {
  const path = join(folder, "systemctl");
  await writeFile(path, ["#!/bin/sh", ...lines, ""].join("\n"));
  await chmod(path, 0o755);
  return systemctl([path], "hello.service", LIMITS);
}

describe("systemctl", () => {
  it("ROLL-8: hung, is killed with all it started, and told as the runtime's silence", async () => {
    const pidFile = join(folder, "pid");
    const hung = await fake(`sleep 600 & echo $! > ${pidFile}; wait`);
    await expect(hung.show()).rejects.toMatchObject({ code: "RUNTIME_UNRESPONSIVE" });
    await expect(hung.daemonReload(never())).rejects.toMatchObject({ code: "RUNTIME_UNRESPONSIVE" });
    const sleeping = identityOf(Number(await readFile(pidFile, "utf8")));
    await until("the sleep is gone", () => sleeping === undefined || !isAlive(sleeping));
  });

  it("ROLL-8: hung while it starts or stops, says so and leaves the decision to whoever asked", async () => {
    const hung = await fake("exec sleep 600");
    expect(await hung.start(never())).toMatchObject({ kind: "late" });
    expect(await hung.stop(200, never())).toMatchObject({ kind: "late" });
  });

  it("ROLL-8: is ended at once when the agent leaves", async () => {
    const hung = await fake("exec sleep 600");
    const leaving = AbortSignal.timeout(50);
    await expect(hung.daemonReload(leaving)).rejects.toThrow();
  });

  it("ROLL-8: that prints without end is cut off", async () => {
    const flood = await fake("exec yes LoadState=loaded");
    await expect(flood.show()).rejects.toMatchObject({
      code: expect.stringMatching(/ACTION_FAILED|RUNTIME/) as string,
    });
  });

  it("ROLL-8: that fails or is missing is an error with its words", async () => {
    const failing = await fake("echo 'Access denied' >&2", "exit 4");
    await expect(failing.daemonReload(never())).rejects.toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringContaining("Access denied") as string,
    });
    const missing = systemctl([join(folder, "none")], "hello.service", LIMITS);
    await expect(missing.show()).rejects.toMatchObject({ code: "ACTION_FAILED" });
  });

  it("ROLL-8: gets the unit's name as an argument of its own, after the options", async () => {
    const said = await fake('echo "$@" >&2', "exit 1");
    expect(await said.start(never())).toMatchObject({
      said: expect.stringContaining("--no-pager --no-ask-password start -- hello.service") as string,
    });
  });

  it("ROLL-8: silent, does not silence the heartbeat", async () => {
    await fake("exec sleep 600");
    const program = ProgramConfig.parse({
      runtime: "systemd",
      unit: "hello.service",
      install_path: join(folder, "hello"),
      data_dir: join(folder, "data"),
      config_dir: join(folder, "config"),
      health: { url: "http://127.0.0.1:1/healthz" },
    }) as SystemdProgram;
    const command = [join(folder, "systemctl")] as const;
    const common = { profile: PROFILE, program, stateDir: folder, clock: systemClock };
    const errors: unknown[] = [];
    const programs = createPrograms(
      { [PROFILE]: program },
      folder,
      () => systemdAdapter({ ...common, command, limits: LIMITS }),
      { error: (_, { error } = {}) => void errors.push(error) },
    );
    expect(await programs.report()).toMatchObject([
      { running_fingerprint: null, application_health: "critical" },
    ]);
    expect(errors).toMatchObject([{ code: "RUNTIME_UNRESPONSIVE" }]);
  });
});

describe("what systemctl shows", () => {
  const SHOWN = [
    ["LoadState=loaded", "ActiveState=activating", "SubState=auto-restart", "MainPID=0", "NRestarts=2"],
    [
      "Result=exit-code",
      "InvocationID=a26a34ef35a04038b66251bb4df7f674",
      "ExecMainCode=1",
      "ExecMainStatus=3",
    ],
    ["ExecMainStartTimestamp=Mon 2026-11-16 03:25:56.279257 UTC"],
    ["ExecMainExitTimestamp=Mon 2026-11-16 03:25:56.587946 UTC"],
    ["ExecStart={ path=/opt/x ; argv[]=/opt/x --home /y ; ignore_errors=no ; start_time=[n/a] ; pid=0 }"],
  ].flat();

  it("is read as it is, a wait between two restarts included", () => {
    expect(parseUnitState(SHOWN.join("\n"))).toMatchObject({
      exists: true,
      active: true,
      ready: false,
      pid: 0,
      restarts: 2,
      exit: { code: 3, signal: null, at: "2026-11-16T03:25:56.587Z" },
      commands: ["/opt/x --home /y"],
    });
  });

  it("is an error when it says nothing of a unit", () => {
    expect(() => parseUnitState("")).toThrow(expect.objectContaining({ code: "ACTION_FAILED" }));
  });

  it("tells a unit that is not there", () => {
    expect(parseUnitState("LoadState=not-found\nActiveState=inactive\n")).toMatchObject({
      exists: false,
      active: false,
    });
  });
});
