/** The agent's local config, owned by the machine's operator. */
import { isAbsolute } from "node:path";
import { z } from "zod";
import { NodeName } from "../core/model/node-name.ts";
import { parseYaml } from "../host/yaml-file.ts";
import { readBounded } from "../host/files.ts";
import { ProgramsConfig } from "./programs/config.ts";

const CONFIG_BYTES_MAX = 256 * 1024;

export const AgentConfig = z.strictObject({
  data_dir: z.string().refine(isAbsolute, "an absolute path"),
  enroll_url: z.url({ protocol: /^https$/ }),
  /** Read once, at enrollment. */
  token_file: z.string().refine(isAbsolute, "an absolute path").optional(),
  /** The name that the machine asks for with an enrollment key; a token's name is its operator's. */
  node_name: NodeName.optional(),
  log_level: z.enum(["debug", "info", "warn", "error"]).default("info"),
  programs: ProgramsConfig,
});
export type AgentConfig = z.infer<typeof AgentConfig>;

export async function loadConfig(path: string): Promise<AgentConfig> {
  return parseYaml(await readBounded(path, CONFIG_BYTES_MAX), AgentConfig, "INVALID_INPUT", path);
}
