/** The programs of a config, each with the adapter of its runtime. */
import { join } from "node:path";
import type { Clock } from "../../host/clock.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import type { AgentConfig } from "../config.ts";
import { runtimeAdapter } from "../upgrade/adapters/index.ts";
import { createPrograms, type Programs } from "./programs.ts";

export const stateDirOf = ({ data_dir }: Pick<AgentConfig, "data_dir">): string => join(data_dir, "state");

export function openPrograms(
  config: AgentConfig,
  shimCommand: readonly string[],
  clock: Clock,
  fs?: FileSystemPort,
): Programs {
  const stateDir = stateDirOf(config);
  return createPrograms(config.programs, stateDir, (profile, program) =>
    runtimeAdapter({ profile, program, stateDir, shimCommand, clock, ...(fs === undefined ? {} : { fs }) }),
  );
}
