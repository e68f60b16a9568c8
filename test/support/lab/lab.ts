/** A real site for tests: server, PostgreSQL, Restate, artifacts and, added one by one, real agents. */
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { buildAgent } from "../../../scripts/build.mjs";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { createHttpClient } from "../../../src/host/bounded-http.ts";
import type { ProcessIdentity } from "../../../src/host/process-identity.ts";
import { removeEmbedded } from "../../../src/server/embedded/embedded.ts";
import { openHome } from "../../../src/server/embedded/home.ts";
import type { HostNetwork } from "../hosts/network.ts";
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
  /** `bin/fairlead.mjs` of another build, for the agents. */
  readonly agentFile?: string;
  readonly operator: Operator;
  readonly origin: LabOrigin;
  readonly processes: LabProcesses;
  server(): ProcessIdentity;
  /** On the data and the ports of the one before it. */
  startServerAgain(): Promise<void>;
  stop(): Promise<void>;
}

export interface LabOptions {
  readonly keepData?: boolean;
  /** The server then lives in the hub of these hosts, and is known to them by its address. */
  readonly network?: HostNetwork;
  /** Of the server, besides its own. */
  readonly moreFlags?: readonly string[];
  /** `bin/fairlead.mjs` of another build for the server, for the agents. */
  readonly builds?: { readonly server?: string; readonly agent?: string };
  /** A file for the server's log other than `server-N.log`. */
  readonly serverStderr?: string;
}

export async function startLab(options: LabOptions = {}): Promise<Lab> {
  const { keepData = false, network, moreFlags = [], serverStderr, builds = {} } = options;
  await buildAgent();
  const folder = await mkdtemp(join(tmpdir(), "fl-l-")); // short enough for a socket below it
  await chmod(folder, 0o711); // PostgreSQL's account passes through
  const home = join(folder, "operator");
  const dataDir = join(folder, "server");
  const configDir = join(folder, "manifests");
  for (const path of [home, configDir]) await mkdir(path, { mode: 0o700 });
  const places = [folder];
  const processes = labProcesses(folder, places);
  const flags = [
    keepData ? ["--embedded"] : ["--embedded", "--ephemeral"],
    ["--data-dir", dataDir, "--config-dir", configDir],
    network === undefined ? await loopbackFlags() : networkFlags(network),
    moreFlags,
  ].flat();
  const [file, ...before] = [...(network?.inside ?? []), NODE];
  let starts = 0;
  let server: ProcessIdentity;

  async function startServer(): Promise<Listening> {
    const name = `server-${++starts}`;
    const args = [...before, builds.server ?? FAIRLEAD, "server", ...flags];
    server = await processes.start(name, file, args, {
      env: commandEnv(home),
      ...(serverStderr === undefined ? {} : { stderr: serverStderr }),
    });
    return eventually(`${name} listens`, async () => saidBy(join(folder, `${name}.out`)));
  }

  const { url: said, enroll_url, first_run_secret_file } = await startServer();
  const url = network === undefined ? said : `http://127.0.0.1:${await network.open(OPERATORS_PORT)}`;
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
    ...(network === undefined ? ["--demo"] : []), // a demo's site is for loopback only
  );
  if (init.code !== 0) throw new Error(`init: ${init.err}`);
  await eventually("the server is ready", async () => isReady(url));
  const operator = await openOperator(home);
  const origin = await labOrigin();
  if (network !== undefined) {
    const socket = join(folder, "origin.sock");
    await origin.offerAt(socket, `http://${network.address}:${ORIGIN_PORT}`);
    await network.offer(ORIGIN_PORT, socket);
  }
  return {
    folder,
    home,
    dataDir,
    configDir,
    enrollUrl: enroll_url,
    ...(builds.agent === undefined ? {} : { agentFile: builds.agent }),
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

const LISTEN = ["--listen", "--agent-listen", "--enroll-listen"];

/** Whoever takes a server's place, or is it again, finds its ports still free. */
async function loopbackFlags(): Promise<string[]> {
  const ports = await Promise.all(LISTEN.map(freePort));
  return LISTEN.flatMap((flag, index) => [flag, `127.0.0.1:${ports[index]}`]);
}

/** In a network of its own no port is taken. */
const OPERATORS_PORT = 7400;
const ORIGIN_PORT = 8080;
const networkFlags = ({ address }: HostNetwork): string[] =>
  [
    ["--listen", `127.0.0.1:${OPERATORS_PORT}`, "--agent-listen", `${address}:7401`],
    ["--enroll-listen", `${address}:7402`, "--name", address],
  ].flat();

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
