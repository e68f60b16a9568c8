/** The runtime that a program's config names. A new one is a new case here, and nothing else (ROLL-8). */
import { unreachable } from "../../../core/errors.ts";
import type { ProfileId } from "../../../core/ids.ts";
import type { Clock } from "../../../host/clock.ts";
import type { FileSystemPort } from "../../../host/file-system-port.ts";
import type { Logger } from "../../../host/log.ts";
import type { ProgramConfig } from "../../programs/config.ts";
import type { RuntimeAdapter } from "../port.ts";
import { dockerAdapter } from "./docker/index.ts";
import { processAdapter } from "./process/index.ts";
import { systemdAdapter } from "./systemd/index.ts";

export interface RuntimeDeps {
  readonly profile: ProfileId;
  readonly program: ProgramConfig;
  readonly stateDir: string;
  /** Started with the program's folder as its last argument. */
  readonly shimCommand: readonly string[];
  readonly clock: Clock;
  readonly log?: Pick<Logger, "warn">;
  readonly fs?: FileSystemPort;
}

export function runtimeAdapter({ program, ...deps }: RuntimeDeps): RuntimeAdapter {
  switch (program.runtime) {
    case "process":
      return processAdapter({ ...deps, program });
    case "systemd":
      return systemdAdapter({ ...deps, program });
    case "docker":
      return dockerAdapter({ ...deps, program });
    default:
      return unreachable(program);
  }
}
