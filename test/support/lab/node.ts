/** One machine of the lab: a program as it was provisioned, and the agent beside it. */
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { freePort } from "../programs/free-port.ts";
import { addAgent } from "./agent-of-node.ts";
import { eventually } from "./eventually.ts";
import type { Lab } from "./lab.ts";

/** The program is a script that asks for its interpreter by name. */
const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;

export const Said = z.object({ version: z.string(), instance_id: z.string(), pid: z.number() });
export type Said = z.infer<typeof Said>;

export interface NodeOptions {
  readonly name: string;
  readonly profile?: string;
  readonly version?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly origins?: readonly string[];
}

export type LabNode = Awaited<ReturnType<typeof addNode>>;

/** Not yet running: its agent has to be started, this one or another. */
export async function addNode(lab: Lab, options: NodeOptions) {
  const { name, profile = "hello", version = "1.0.0", labels, origins = [lab.origin.url] } = options;
  const folder = join(lab.folder, name);
  const installPath = join(folder, "bin", "hello");
  const counterFile = join(folder, "starts");
  for (const part of ["bin", "data", "config"])
    await mkdir(join(folder, part), { recursive: true, mode: 0o700 });
  await writeFile(installPath, helloProgram(version));
  await chmod(installPath, 0o755);
  const port = await freePort();
  const program = {
    install_path: installPath,
    data_dir: join(folder, "data"),
    config_dir: join(folder, "config"),
    version,
    env: { PATH, PORT: String(port), COUNTER_FILE: counterFile },
    health: { url: `http://127.0.0.1:${port}/healthz` },
    artifact_origins: origins,
    stop_grace_ms: 3_000,
  };
  const agent = await addAgent(lab, { name, profile, labels, program });

  const said = async (): Promise<Said> =>
    Said.parse(await (await fetch(`http://127.0.0.1:${port}/version`)).json());

  return {
    ...agent,
    folder,
    port,
    installPath,
    /** What the program itself says over HTTP, once it listens. */
    running: () => eventually(`the program of ${name} answers`, said),
    installed: async () => digestOf(await readFile(installPath)),
    /** Changes with every install. */
    inode: async () => (await stat(installPath)).ino,
    /** Instance ids, one per start, written by the program itself. */
    async starts(): Promise<string[]> {
      const lines = (await readFile(counterFile, "utf8").catch(() => "")).split("\n");
      return lines.filter((line) => line !== "").map((line) => line.split(" ")[0]!);
    },
  };
}

export async function addRunningNodes(lab: Lab, options: readonly NodeOptions[]): Promise<LabNode[]> {
  const nodes = await Promise.all(options.map(async (each) => addNode(lab, each)));
  for (const node of nodes) await node.startAgent();
  await Promise.all(nodes.map(async (node) => node.reported()));
  return nodes;
}
