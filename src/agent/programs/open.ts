/** The programs of a config, each with the adapter of its runtime. */
import { join } from "node:path";
import type { ProfileId } from "../../core/ids.ts";
import type { Clock } from "../../host/clock.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import type { Logger } from "../../host/log.ts";
import type { AgentConfig } from "../config.ts";
import { runtimeAdapter } from "../upgrade/adapters/index.ts";
import type { ProgramConfig } from "./config.ts";
import { createPrograms, type Programs } from "./programs.ts";

export const stateDirOf = ({ data_dir }: Pick<AgentConfig, "data_dir">): string => join(data_dir, "state");

export function openPrograms(
  config: AgentConfig,
  shimCommand: readonly string[],
  clock: Clock,
  log: Logger,
  fs?: FileSystemPort,
): Programs {
  const stateDir = stateDirOf(config);
  const common = { stateDir, shimCommand, clock, log, ...(fs === undefined ? {} : { fs }) };
  const adapterFor = (profile: ProfileId, program: ProgramConfig) =>
    runtimeAdapter({ ...common, profile, program });
  return createPrograms(config.programs, stateDir, adapterFor, log);
}
