/**
 * A site of replicas: three servers on one PostgreSQL and three Restate nodes, operators behind haproxy, agents that find
 * the replicas by themselves. It is a lab too, so that nodes and rollouts are the lab's own.
 */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildAgent } from "../../../scripts/build.mjs";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { stopProcess, type ProcessIdentity } from "../../../src/host/process-identity.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { openDatabase, type Database } from "../../../src/server/db/database.ts";
import { eventually } from "../lab/eventually.ts";
import type { Lab } from "../lab/lab.ts";
import { fairlead, openOperator } from "../lab/operator.ts";
import { labOrigin } from "../lab/origin.ts";
import { labProcesses, processesAround, type LabProcesses } from "../lab/processes.ts";
import { startBalancer } from "./balancer.ts";
import { freePort } from "../programs/free-port.ts";
import { startSharedPostgres, type SharedPostgres } from "./postgres.ts";
import { startRestateCluster, type RestateCluster } from "./restate-cluster.ts";

export interface Replica {
  readonly index: number;
  readonly url: string;
  readonly agentUrl: string;
  readonly flags: readonly string[];
  process(): ProcessIdentity;
  start(build?: Build): Promise<void>;
  ready(): Promise<void>;
  stop(): Promise<void>;
}

/** Each has an address of its own, at which Restate calls its handlers. */
export interface Build {
  readonly command: string;
  readonly handlersPort: number;
}

export interface ReplicaSite extends Lab {
  readonly keysDir: string;
  readonly nextHandlersPort: number;
  readonly db: Database;
  readonly postgres: SharedPostgres;
  readonly restate: RestateCluster;
  readonly replicas: readonly Replica[];
}

const REPLICAS = [0, 1, 2];

export async function startReplicaSite(): Promise<ReplicaSite> {
  await buildAgent();
  const folder = await mkdtemp(join(tmpdir(), "fl-r-")); // short enough for a socket below it
  await chmod(folder, 0o711); // PostgreSQL's account passes through
  const processes = labProcesses(folder, [folder]);
  try {
    return await startIn(folder, processes);
  } catch (error) {
    await processes.stopAll();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(folder: string, processes: LabProcesses): Promise<ReplicaSite> {
  const home = join(folder, "operator");
  const configDir = join(folder, "manifests");
  const keysDir = join(folder, "site-keys");
  for (const path of [home, configDir, keysDir]) await mkdir(path, { mode: 0o700 });
  const [postgres, restate] = await Promise.all([
    startSharedPostgres(folder, processes),
    startRestateCluster(folder, processes),
  ]);
  const [handlersPort, nextHandlersPort] = [await freePort(), await freePort()];
  const shared = [
    ["--database-url", postgres.url],
    restate.ingress.flatMap((url) => ["--restate-url", url]),
    restate.admin.flatMap((url) => ["--restate-admin-url", url]),
    ["--restate-identity", restate.identityKey],
    ["--handlers-reuse-port"],
    ["--keys-dir", keysDir, "--config-dir", configDir],
  ].flat();

  async function replica(index: number): Promise<Replica & { ports: Ports }> {
    const ports = { operators: await freePort(), agents: await freePort(), enroll: await freePort() };
    const own = {
      "--data-dir": join(folder, `server-${index + 1}`),
      "--listen": `127.0.0.1:${ports.operators}`,
      "--agent-listen": `127.0.0.1:${ports.agents}`,
      "--enroll-listen": `127.0.0.1:${ports.enroll}`,
    };
    const flags = [...shared, ...Object.entries(own).flat()];
    let starts = 0;
    let running: ProcessIdentity;
    return {
      index,
      ports,
      flags,
      url: `http://127.0.0.1:${ports.operators}`,
      agentUrl: `https://127.0.0.1:${ports.agents}`,
      process: () => running,
      async start(build = { command: FAIRLEAD, handlersPort }) {
        const name = `server-${index + 1}-${++starts}`;
        const handlers = ["--handlers-listen", `127.0.0.1:${build.handlersPort}`];
        const args = [build.command, "server", ...flags, ...handlers];
        running = await processes.start(name, NODE, args, { env: commandEnv(home) });
        await processes.signOf(name, running, async () =>
          (await readFile(join(folder, `${name}.out`), "utf8")).includes("\n"),
        );
      },
      ready: async () =>
        void (await eventually(`server ${index + 1} is ready`, async () => {
          const answer = await fetch(`http://127.0.0.1:${ports.operators}/readyz`);
          return answer.status === 200;
        })),
      stop: async () => void (await stopProcess(running, { graceMs: 20_000 })),
    };
  }

  const replicas = await Promise.all(REPLICAS.map(replica));
  const operatorsPort = await freePort();
  const backends = replicas.map(({ ports }) => ports.operators);
  await startBalancer(folder, processes, [
    { name: "operators", port: operatorsPort, backends, healthPath: "/healthz" },
  ]);
  await Promise.all(replicas.map(async (each) => each.start()));
  const url = `http://127.0.0.1:${operatorsPort}`;
  const secretFile = join(folder, "server-1", "first-run-secret");
  // At the first server itself: the secret is that server's own.
  const init = ["--server", replicas[0]!.url, "--first-run-secret-file", secretFile];
  const ran = await fairlead(home, "init", ...init, "--keys-dir", join(folder, "keys"), "--demo");
  if (ran.code !== 0) throw new Error(`init: ${ran.err}`);
  await moveContext(home, url);
  for (const each of replicas) await each.ready();
  const operator = await openOperator(home);
  const origin = await labOrigin();
  const db = openDatabase({ url: postgres.url, poolMax: 2 }, silentLogger);
  return {
    folder,
    home,
    configDir,
    keysDir,
    nextHandlersPort,
    dataDir: join(folder, "server-1"),
    enrollUrl: `https://127.0.0.1:${replicas[0]!.ports.enroll}`,
    operator,
    origin,
    processes,
    db,
    postgres,
    restate,
    replicas,
    server: () => replicas[0]!.process(),
    startServerAgain: () => replicas[0]!.start(),
    async stop() {
      operator.close();
      await db.end({ timeout: 1 });
      await Promise.all(replicas.map(async (each) => each.stop()));
      await restate.killAll(); // without a quorum the last ones would wait for the first
      await processes.stopAll();
      await origin.close();
      const left = await processesAround([folder]);
      await postgres.remove();
      await rm(folder, { recursive: true, force: true });
      if (left.length > 0) throw new Error(`left running: ${JSON.stringify(left)}`);
    },
  };
}

interface Ports {
  readonly operators: number;
  readonly agents: number;
  readonly enroll: number;
}

/** From the one server that was initialised to the address that stands for all. */
async function moveContext(home: string, server: string): Promise<void> {
  const file = join(home, "contexts", "default.json");
  const context = JSON.parse(await readFile(file, "utf8")) as object;
  await writeFile(file, JSON.stringify({ ...context, server }), { mode: 0o600 });
}
