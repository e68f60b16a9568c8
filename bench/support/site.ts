/** A real control plane for a benchmark: `fairlead server --embedded` in its own process, initialised by `fairlead init`. */
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { contextStore } from "../../src/cli/context.ts";
import { ensureDirectory } from "../../src/host/files.ts";
import { spawnChild } from "../../src/host/process.ts";
import { stopProcess } from "../../src/host/process-identity.ts";
import { silentLogger } from "../../src/host/log.ts";
import { openDatabase, type Database } from "../../src/server/db/database.ts";
import { embeddedProcesses, removeEmbedded } from "../../src/server/embedded/embedded.ts";
import { openHome } from "../../src/server/embedded/home.ts";
import { POSTGRES_USER } from "../../src/server/embedded/postgres-cluster.ts";
import { cpuOf, cpuOfTree, memoryOfTree, residentMb } from "./cpu.ts";
import { commandEnv, FAIRLEAD, fairlead } from "./fairlead.ts";
import { operatorsOf, type Operators } from "./operators.ts";
import type { Workplace } from "./workplace.ts";

const Listening = z.object({
  url: z.string(),
  agent_url: z.string(),
  enroll_url: z.string(),
  first_run_secret_file: z.string(),
});

const STOP_GRACE_MS = 30_000;
const START_TIMEOUT_MS = 60_000;

export interface Site {
  readonly agentUrl: string;
  readonly enrollUrl: string;
  readonly keysDir: string;
  /** The operator's folder: `fairlead` commands run with it. */
  readonly home: string;
  readonly operators: Operators;
  /** Straight to the rows, to see what is really there. */
  readonly db: Database;
  /** An empty database on the same PostgreSQL. */
  freshDatabase(name: string): Promise<Database>;
  /** CPU seconds so far. */
  readonly cpu: Readonly<Record<"server" | "postgres" | "restate", () => Promise<number>>>;
  /** Megabytes now. */
  readonly memory: Readonly<Record<"server" | "postgres" | "restate", () => Promise<number>>>;
}

export async function startSite(place: Workplace): Promise<Site> {
  const dataDir = join(place.folder, "server");
  const home = join(place.folder, "operator");
  await ensureDirectory(dataDir, 0o711);
  await ensureDirectory(home, 0o700);
  const { pid, listening } = await startServer(place, dataDir, home);
  const { url, agent_url, enroll_url, first_run_secret_file: secret } = listening;
  const keys = ["--keys-dir", join(place.folder, "keys"), "--demo"];
  await fairlead(home, ["init", "--server", url, "--first-run-secret-file", secret, ...keys]);

  const { context } = await contextStore({ FAIRLEAD_HOME: home }).load(undefined);
  const operators = operatorsOf(url, context.api_key);
  place.undo("operators", () => operators.close());
  const open = await openerOf(place, dataDir);
  const db = open("fairlead");
  const engines = await embeddedProcesses(dataDir);
  return {
    agentUrl: agent_url,
    enrollUrl: enroll_url,
    keysDir: join(dataDir, "keys"),
    home,
    operators,
    db,
    async freshDatabase(name) {
      await db`create database ${db(name)}`;
      return open(name);
    },
    cpu: {
      server: () => cpuOf(pid),
      postgres: () => cpuOfTree(engines.postgres!.pid),
      restate: () => cpuOf(engines.restate!.pid),
    },
    memory: {
      server: () => residentMb(pid),
      postgres: () => memoryOfTree(engines.postgres!.pid),
      restate: () => residentMb(engines.restate!.pid),
    },
  };
}

async function startServer(place: Workplace, dataDir: string, home: string) {
  const profile = place.options.cpuProfileDir;
  const flags = profile === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  const listeners = ["--listen", "--agent-listen", "--enroll-listen"].flatMap((flag) => [
    flag,
    "127.0.0.1:0",
  ]);
  const logFile = join(place.folder, "server.log");
  const log = await open(logFile, "a", 0o600);
  const { child, identity } = await spawnChild(
    process.execPath,
    [...flags, FAIRLEAD, "server", "--embedded", "--data-dir", dataDir, ...listeners, "--log-level", "warn"],
    { env: commandEnv(home), stdio: ["ignore", "pipe", log.fd] },
  );
  await log.close();
  place.undo("server", async () => {
    await stopProcess(identity, { graceMs: STOP_GRACE_MS });
    await removeEmbedded(dataDir);
  });
  const lines = createInterface({ input: child.stdout! });
  const first = await new Promise<string | null>((resolve) => {
    setTimeout(resolve, START_TIMEOUT_MS, null).unref();
    child.once("exit", () => resolve(null));
    lines.once("line", resolve);
  });
  if (first === null)
    throw new Error(`the server did not come up: ${(await readFile(logFile, "utf8")).slice(-2000)}`);
  return { pid: identity.pid, listening: Listening.parse(JSON.parse(first)) };
}

async function openerOf(place: Workplace, dataDir: string): Promise<(database: string) => Database> {
  const { path, postgresDir } = await openHome(dataDir);
  const password = (await readFile(join(path, "postgres-password"), "utf8")).trim();
  const socket = { path: join(postgresDir, ".s.PGSQL.5432"), user: POSTGRES_USER, password };
  return (database) => {
    const db = openDatabase({ socket: { ...socket, database }, poolMax: 4 }, silentLogger);
    place.undo(`database ${database}`, () => db.end({ timeout: 1 }));
    return db;
  };
}
