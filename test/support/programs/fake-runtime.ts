/** The process runtime with real files and a pretended program: for sweeps that would start thousands of real ones. */
import type { FileProgram } from "../../../src/agent/programs/config.ts";
import { artifactFiles } from "../../../src/agent/upgrade/adapters/files/artifact-files.ts";
import { configFiles } from "../../../src/agent/upgrade/adapters/files/config-files.ts";
import { stateBackup } from "../../../src/agent/upgrade/adapters/files/state-backup.ts";
import type { RunningProgram, RuntimeAdapter, StartRequest } from "../../../src/agent/upgrade/port.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { type FileSystemPort, nodeFileSystem } from "../../../src/host/file-system-port.ts";
import type { Logger } from "../../../src/host/log.ts";

/** The machine's memory: outlives each agent, as processes do. */
export interface FakeProcesses {
  running: RunningProgram | null;
  run: StartRequest["run"] | null;
  readonly instances: string[];
  readonly log: string[];
}

export const fakeProcesses = (): FakeProcesses => ({ running: null, run: null, instances: [], log: [] });

export function fakeRuntime(
  world: FakeProcesses,
  program: FileProgram,
  fs: FileSystemPort = nodeFileSystem,
  log?: Pick<Logger, "warn">,
): RuntimeAdapter {
  const saved = stateBackup({ program, fs, clock: systemClock, log });
  const supervision = () => ({ running: world.running, restarts: 0, restarted_at: [], last_exit: null });
  const files = artifactFiles({ program, fs, saved });
  return {
    ...files,
    ...configFiles({ program, fs, saved }),
    backup: async (request, signal) =>
      saved.save(request, { ran: world.running !== null, run: world.run ?? program.run }, signal),
    readBackup: saved.read,
    reload: async () => void world.log.push("reload"),
    async start({ key, fingerprint, run }, signal) {
      const installed = await files.measure(); // as the shim does
      signal.throwIfAborted();
      if (installed !== fingerprint) throw new Error("the shim refuses other bytes");
      const instance_id = `${key}.${world.instances.filter((id) => id.startsWith(`${key}.`)).length + 1}`;
      world.instances.push(instance_id);
      world.log.push("start");
      world.run = run;
      world.running = {
        fingerprint,
        pid: 1,
        instance_id,
        restarts: 0,
        started_at: new Date(0).toISOString(),
      };
    },
    async stop(signal) {
      signal.throwIfAborted();
      world.log.push("stop");
      world.running = null;
    },
    isRunning: async () => world.running !== null,
    isSupervised: async () => world.running !== null,
    running: async () => world.running,
    supervision: async () => supervision(),
  };
}
