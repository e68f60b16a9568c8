/** The agent of one machine of the lab: its folder, its token and its config, around a program of any runtime. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import type { ProcessIdentity } from "../../../src/host/process-identity.ts";
import { eventually } from "./eventually.ts";
import type { Lab } from "./lab.ts";

export const NODE_TYPE = "edge";

export interface AgentOptions {
  readonly name: string;
  readonly profile: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly program: { readonly version: string };
}

export interface StartOptions {
  readonly stderr?: string;
  /** More of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Not yet running: it has to be started, this one or another. */
export async function addAgent(lab: Lab, { name, profile, labels, program }: AgentOptions) {
  const folder = join(lab.folder, name);
  const configPath = join(folder, "agent.json");
  const dataDir = join(folder, "agent");
  const tokenFile = join(folder, "token");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(tokenFile, await lab.operator.enrollmentToken(name, profile, NODE_TYPE, labels), {
    mode: 0o600,
  });
  const config = {
    data_dir: dataDir,
    enroll_url: lab.enrollUrl,
    token_file: tokenFile,
    programs: { [profile]: program },
  };
  await writeFile(configPath, JSON.stringify(config), { mode: 0o600 });

  return {
    name,
    profile,
    dataDir,
    configPath,
    tokenFile,
    /** The shipped bundle. */
    startAgent: ({ env = {}, ...options }: StartOptions = {}): Promise<ProcessIdentity> =>
      lab.processes.start(
        `agent-${name}`,
        NODE,
        [lab.agentFile ?? FAIRLEAD, "agent", "--config", configPath],
        {
          env: { ...commandEnv(lab.home), ...env },
          ...options,
        },
      ),
    reported: () => reported(lab, name, program.version),
  };
}

/** Until the server knows what a node runs. */
export const reported = (lab: Lab, name: string, version: string) =>
  eventually(`${name} reports ${version}`, async () => {
    const { profiles, programs } = await lab.operator.node(name);
    return profiles[0]?.binary_version === version && programs[0]?.running_fingerprint != null;
  });
