/** A real site for tests: server, PostgreSQL, Restate, artifacts and, added one by one, real agents. */
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { buildAgent } from "../../../scripts/build.mjs";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { createHttpClient } from "../../../src/host/bounded-http.ts";
import type { ProcessIdentity } from "../../../src/host/process-identity.ts";
import { removeEmbedded } from "../../../src/server/embedded/embedded.ts";
import { openHome } from "../../../src/server/embedded/home.ts";
import { freePort } from "../programs/free-port.ts";
import { eventually } from "./eventually.ts";
import { fairlead, openOperator, type Operator } from "./operator.ts";
import { labOrigin, type LabOrigin } from "./origin.ts";
import { labProcesses, processesAround, type LabProcesses } from "./processes.ts";

const Listening = z.object({
  url: z.string(),
  agent_url: z.string(),
  enroll_url: z.string(),
  first_run_secret_file: z.string().nullable(),
});
type Listening = z.infer<typeof Listening>;

export interface Lab {
  readonly folder: string;
  /** The operator's. */
  readonly home: string;
  readonly dataDir: string;
  /** The server's manifests. */
  readonly configDir: string;
  readonly enrollUrl: string;
  readonly operator: Operator;
  readonly origin: LabOrigin;
  readonly processes: LabProcesses;
  server(): ProcessIdentity;
  /** On the data and the ports of the one before it. */
  startServerAgain(): Promise<void>;
  stop(): Promise<void>;
}

export async function startLab({ keepData = false } = {}): Promise<Lab> {
  await buildAgent();
  const folder = await mkdtemp("/tmp/fl-l-"); // short enough for a socket below it
  await chmod(folder, 0o711); // PostgreSQL's account passes through
  const home = join(folder, "operator");
  const dataDir = join(folder, "server");
  const configDir = join(folder, "manifests");
  for (const path of [home, configDir]) await mkdir(path, { mode: 0o700 });
  const places = [folder];
  const processes = labProcesses(folder, places);
  const flags = await flagsOf(dataDir, configDir, keepData);
  let starts = 0;
  let server: ProcessIdentity;

  async function startServer(): Promise<Listening> {
    const name = `server-${++starts}`;
    server = await processes.start(name, NODE, [FAIRLEAD, "server", ...flags], { env: commandEnv(home) });
    return eventually(`${name} listens`, async () => saidBy(join(folder, `${name}.out`)));
  }

  const { url, enroll_url, first_run_secret_file } = await startServer();
  places.push((await openHome(dataDir)).path); // the engines may live elsewhere
  const secret = ["--first-run-secret-file", first_run_secret_file!];
  const init = await fairlead(
    home,
    "init",
    "--server",
    url,
    ...secret,
    "--keys-dir",
    join(folder, "keys"),
    "--demo",
  );
  if (init.code !== 0) throw new Error(`init: ${init.err}`);
  await eventually("the server is ready", async () => isReady(url));
  const operator = await openOperator(home);
  const origin = await labOrigin();
  return {
    folder,
    home,
    dataDir,
    configDir,
    enrollUrl: enroll_url,
    operator,
    origin,
    processes,
    server: () => server,
    startServerAgain: async () => void (await startServer()),
    async stop() {
      operator.close();
      await processes.stopAll();
      await origin.close();
      const left = await processesAround(places);
      await removeEmbedded(dataDir);
      await rm(folder, { recursive: true, force: true });
      if (left.length > 0) throw new Error(`left running: ${JSON.stringify(left)}`);
    },
  };
}

async function flagsOf(dataDir: string, configDir: string, keepData: boolean): Promise<string[]> {
  const listen = ["--listen", "--agent-listen", "--enroll-listen"];
  const ports = await Promise.all(listen.map(async () => (keepData ? freePort() : 0)));
  return [
    keepData ? ["--embedded"] : ["--embedded", "--ephemeral"],
    ["--data-dir", dataDir, "--config-dir", configDir],
    ...listen.map((flag, index) => [flag, `127.0.0.1:${ports[index]}`]),
  ].flat();
}

async function saidBy(file: string): Promise<Listening | undefined> {
  const [line, rest] = (await readFile(file, "utf8")).split("\n");
  return rest === undefined ? undefined : Listening.parse(JSON.parse(line!));
}

async function isReady(origin: string): Promise<boolean> {
  const client = createHttpClient({ origin });
  try {
    return (await client.request("/readyz")).status === 200;
  } finally {
    client.close();
  }
}
