/**
 * A site whose server and database live by a clock that tests move; Restate's binary is static and keeps real time. It is
 * a lab too, so that nodes and rollouts are the lab's own; each agent may have a clock of its own.
 */
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildAgent } from "../../../scripts/build.mjs";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { stopProcess, type ProcessIdentity } from "../../../src/host/process-identity.ts";
import { openDatabase, type Database } from "../../../src/server/db/database.ts";
import { eventually } from "../lab/eventually.ts";
import type { Lab } from "../lab/lab.ts";
import { fairlead, openOperator } from "../lab/operator.ts";
import { labOrigin } from "../lab/origin.ts";
import { labProcesses, processesAround } from "../lab/processes.ts";
import { freePort } from "../programs/free-port.ts";
import { startSharedPostgres } from "../replicas/postgres.ts";
import { startRestateCluster } from "../replicas/restate-cluster.ts";
import { movedTime, type MovedTime } from "./moved-time.ts";

export interface ClockServer {
  readonly url: string;
  readonly enrollUrl: string;
  process(): ProcessIdentity;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Why it is not ready. */
  reasons(): Promise<string>;
}

export interface ClockSite extends Lab {
  readonly time: MovedTime;
  /** Reads rows by the moved clock's own `now()`. */
  readonly db: Database;
  stopServer(): Promise<void>;
  /** PostgreSQL and Restate, at once and without a warning. */
  killEngines(): Promise<void>;
  startEnginesAgain(): Promise<void>;
  /** Why the server is not ready. */
  reasons(): Promise<string>;
  /** A second server process on the same database, started. */
  addReplica(time: MovedTime): Promise<ClockServer>;
}

export interface ClockSiteOptions {
  /** Without it the clock may stay elsewhere: Restate, which keeps real time, does not sign its calls with a time. */
  readonly requestIdentity?: boolean;
}

export async function startClockSite({ requestIdentity = true }: ClockSiteOptions = {}): Promise<ClockSite> {
  await buildAgent();
  const folder = await mkdtemp(join(tmpdir(), "fl-c-")); // short enough for a socket below it
  await chmod(folder, 0o711); // PostgreSQL's account passes through
  const [home, configDir, dataDir, keysDir] = ["operator", "manifests", "server", "site-keys"].map((name) =>
    join(folder, name),
  );
  for (const path of [home!, configDir!, keysDir!]) await mkdir(path, { mode: 0o700 });
  const time = await movedTime(join(folder, "time"));
  const processes = labProcesses(folder, [folder]);
  const [postgres, restate] = await Promise.all([
    startSharedPostgres(folder, processes, time.env),
    startRestateCluster(folder, processes, 1, requestIdentity),
  ]);
  const handlers = `127.0.0.1:${await freePort()}`;
  const shared = [
    ["--database-url", postgres.url, "--restate-url", restate.ingress[0]!],
    ["--restate-admin-url", restate.admin[0]!],
    requestIdentity ? ["--restate-identity", restate.identityKey] : [],
    ["--keys-dir", keysDir!, "--config-dir", configDir!],
    ["--handlers-listen", handlers, "--handlers-reuse-port"],
  ].flat();
  let starts = 0;

  /** One server by that clock, at addresses and in a folder of its own. */
  async function makeServer(data: string, clock: MovedTime): Promise<ClockServer> {
    const [operators, agents, enroll] = [await freePort(), await freePort(), await freePort()].map(
      (port) => `127.0.0.1:${port}`,
    );
    const own = [
      "--data-dir",
      data,
      "--listen",
      operators!,
      "--agent-listen",
      agents!,
      "--enroll-listen",
      enroll!,
    ];
    let running: ProcessIdentity;
    return {
      url: `http://${operators}`,
      enrollUrl: `https://${enroll}`,
      process: () => running,
      async start() {
        const name = `server-${++starts}`;
        const env = { ...commandEnv(home!), ...clock.env };
        running = await processes.start(name, NODE, [FAIRLEAD, "server", ...shared, ...own], { env });
        await processes.signOf(name, running, async () =>
          (await readFile(join(folder, `${name}.out`), "utf8")).includes("\n"),
        );
      },
      stop: async () => void (await stopProcess(running, { graceMs: 20_000 })),
      async reasons() {
        const answer = (await (await fetch(`http://${operators}/readyz`)).json()) as { reasons: string[] };
        return answer.reasons.join("; ");
      },
    };
  }

  const first = await makeServer(dataDir!, time);
  const { url } = first;
  await first.start();
  const secret = join(dataDir!, "first-run-secret");
  const init = [
    "--server",
    url,
    "--first-run-secret-file",
    secret,
    "--keys-dir",
    join(folder, "keys"),
    "--demo",
  ];
  const ran = await fairlead(home!, "init", ...init);
  if (ran.code !== 0) throw new Error(`init: ${ran.err}`);
  await eventually("the server is ready", async () => (await first.reasons()) === "");
  const operator = await openOperator(home!);
  const origin = await labOrigin();
  const db = openDatabase({ url: postgres.url, poolMax: 2 }, silentLogger);
  return {
    folder,
    home: home!,
    configDir: configDir!,
    dataDir: dataDir!,
    enrollUrl: first.enrollUrl,
    operator,
    origin,
    processes,
    time,
    db,
    reasons: first.reasons,
    server: first.process,
    startServerAgain: first.start,
    stopServer: first.stop,
    async addReplica(clock) {
      const replica = await makeServer(join(folder, `server-of-${++starts}`), clock);
      await replica.start();
      return replica;
    },
    killEngines: async () => void (await Promise.all([postgres.kill(), restate.killAll()])),
    startEnginesAgain: async () => void (await Promise.all([postgres.startAgain(), restate.startAgain(0)])),
    async stop() {
      operator.close();
      await db.end({ timeout: 1 });
      await first.stop();
      await restate.killAll();
      await processes.stopAll();
      await origin.close();
      const left = await processesAround([folder]);
      await postgres.remove();
      await rm(folder, { recursive: true, force: true });
      if (left.length > 0) throw new Error(`left running: ${JSON.stringify(left)}`);
    },
  };
}
