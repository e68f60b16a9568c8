/** The systemd runtime with real files and a pretended systemd: for sweeps that would start thousands of real programs. */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SystemdProgram } from "../../../src/agent/programs/config.ts";
import { launchOf } from "../../../src/agent/upgrade/adapters/systemd/drop-in.ts";
import { systemdAdapter } from "../../../src/agent/upgrade/adapters/systemd/index.ts";
import type { Systemctl } from "../../../src/agent/upgrade/adapters/systemd/systemctl.ts";
import type { UnitState } from "../../../src/agent/upgrade/adapters/systemd/unit-state.ts";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { PROFILE } from "./contract-machine.ts";
import type { MachineParts, Surroundings } from "./machine.ts";

/** The machine's memory: outlives each agent, as units do. */
export interface FakeUnit {
  active: boolean;
  invocations: number;
  startedAtMs: number;
  readonly instances: string[];
}

export const fakeUnit = (): FakeUnit => ({ active: false, invocations: 0, startedAtMs: 0, instances: [] });

export const FAKE_UNIT: Surroundings = {
  place: {},
  config: { runtime: "systemd", unit: "hello.service" },
  setUp: async () => undefined,
  tearDown: async () => undefined,
};

const systemdDirOf = (stateDir: string): string => join(dirname(stateDir), "systemd");
const dropInsOf = (stateDir: string): string => join(systemdDirOf(stateDir), "hello.service.d");

export const listDropIns = async (stateDir: string): Promise<string[]> =>
  readdir(dropInsOf(stateDir)).catch(() => []);

export function fakeSystemd(world: FakeUnit, { program, stateDir, fs }: MachineParts): RuntimeAdapter {
  if (program.runtime !== "systemd") throw new Error("not a unit");
  const systemdDir = systemdDirOf(stateDir);
  return systemdAdapter({
    profile: PROFILE,
    program,
    stateDir,
    clock: systemClock,
    systemdDir,
    settleMs: 0,
    systemd: pretended(world, program, async () =>
      readFile(join(dropInsOf(stateDir), "50-fairlead.conf"), "utf8"),
    ),
    ...(fs === undefined ? {} : { fs }),
  });
}

/** `read` gives the drop-in that a start reads. */
export function pretended(world: FakeUnit, program: SystemdProgram, read: () => Promise<string>): Systemctl {
  const state = (): UnitState => ({
    exists: true,
    active: world.active,
    ready: world.active,
    hasJob: false,
    pid: world.active ? 4_000_000 : 0, // beyond what a kernel gives
    startedAtMs: world.active ? world.startedAtMs : null,
    invocation: String(world.invocations).padStart(32, "0"),
    restarts: 0,
    result: "success",
    exit: null,
    commands: [program.install_path],
  });
  return {
    show: async () => state(),
    daemonReload: async (signal) => signal.throwIfAborted(),
    async start(signal) {
      signal.throwIfAborted();
      world.instances.push(launchOf(await read())!.instance_id);
      // Later than any change to a file that came before it, however coarse the file system's clock is.
      Object.assign(world, {
        active: true,
        invocations: world.invocations + 1,
        startedAtMs: Date.now() + 60_000,
      });
      return { kind: "done" };
    },
    async stop(_, signal) {
      signal.throwIfAborted();
      world.active = false;
      return { kind: "done" };
    },
    kill: async () => undefined,
    resetFailed: async () => undefined,
  };
}
