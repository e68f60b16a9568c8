/** The `process` runtime: one program file, kept alive by a shim of ours. The embedded default (ROLL-8). */
import { join } from "node:path";
import type { ProfileId } from "../../../../core/ids.ts";
import type { Clock } from "../../../../host/clock.ts";
import { type FileSystemPort, nodeFileSystem } from "../../../../host/file-system-port.ts";
import type { Logger } from "../../../../host/log.ts";
import type { ProcessProgram } from "../../../programs/config.ts";
import type { Backoff } from "../../../shim/files.ts";
import type { RuntimeAdapter } from "../../port.ts";
import { artifactFiles } from "../files/artifact-files.ts";
import { configFiles } from "../files/config-files.ts";
import { stateBackup } from "../files/state-backup.ts";
import { observe } from "./observe.ts";
import { supervisor } from "./supervisor.ts";

export interface ProcessAdapterDeps {
  readonly profile: ProfileId;
  readonly program: ProcessProgram;
  readonly stateDir: string;
  /** Started with the program's folder as its last argument. */
  readonly shimCommand: readonly string[];
  readonly clock: Clock;
  readonly log?: Pick<Logger, "warn"> | undefined;
  readonly fs?: FileSystemPort;
  readonly backoff?: Backoff;
  readonly settleMs?: number;
}

export function processAdapter({
  profile,
  stateDir,
  fs = nodeFileSystem,
  ...deps
}: ProcessAdapterDeps): RuntimeAdapter {
  const { program, clock, log } = deps;
  const folder = join(stateDir, "programs", profile);
  const saved = stateBackup({ program, fs, clock, log });
  const shim = supervisor({ ...deps, folder, fs });
  return {
    ...artifactFiles({ program, fs, saved }),
    ...configFiles({ program, fs, saved }),
    backup: async (request, signal) => {
      const run = (await shim.lastLaunch())?.run ?? program.run;
      return saved.save(request, { ran: (await observe(folder)).running !== null, run }, signal);
    },
    readBackup: saved.read,
    reload: async () => undefined, // no daemon stands between us and the program
    start: shim.start,
    stop: shim.stop,
    isRunning: shim.isRunning,
    isSupervised: shim.isSupervised,
    isLost: shim.isLost,
    running: async () => (await observe(folder)).running,
    supervision: async () => observe(folder),
  };
}
