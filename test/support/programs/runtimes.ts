/** The real adapters as tests use them: quick to settle, and on the machine that the test has for them. */
import type { ProgramConfig } from "../../../src/agent/programs/config.ts";
import { runtimeAdapter } from "../../../src/agent/upgrade/adapters/index.ts";
import { processAdapter } from "../../../src/agent/upgrade/adapters/process/index.ts";
import { systemdAdapter } from "../../../src/agent/upgrade/adapters/systemd/index.ts";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import { systemClock } from "../../../src/host/clock.ts";
import type { FileSystemPort } from "../../../src/host/file-system-port.ts";
import { SHIM } from "./built.ts";
import { PROFILE } from "./contract-machine.ts";

const SHIM_COMMAND = [process.execPath, SHIM];

/** Where a runtime is, seen from the test; plain data, for a process of its own finds it by the same. */
export interface Place {
  readonly systemd?: {
    readonly command: readonly [string, ...string[]];
    readonly systemdDir: string;
    readonly procDir: string;
  };
}

export interface RuntimeParts {
  readonly program: ProgramConfig;
  readonly stateDir: string;
  readonly fs?: FileSystemPort | undefined;
}

const SETTLE_MS = 200;

export function realRuntime({ program, stateDir, fs }: RuntimeParts, place: Place = {}): RuntimeAdapter {
  const common = { profile: PROFILE, stateDir, clock: systemClock, ...(fs === undefined ? {} : { fs }) };
  switch (program.runtime) {
    case "process": {
      const backoff = { first_ms: 20, max_ms: 50, stable_ms: 60_000 };
      return processAdapter({ ...common, program, shimCommand: SHIM_COMMAND, settleMs: SETTLE_MS, backoff });
    }
    case "systemd":
      return systemdAdapter({ ...common, ...place.systemd, program, settleMs: SETTLE_MS });
    default:
      return runtimeAdapter({ ...common, program, shimCommand: SHIM_COMMAND });
  }
}
