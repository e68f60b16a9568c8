/**
 * Real PostgreSQL and real Restate inside one data folder: started, kept running and stopped.
 *
 * 1. One process at a time uses a data folder.
 * 2. Nothing that was started outlives `stop`; nothing outlives a SIGKILL of ours for more than seconds, or at the
 *    latest until the next start.
 * 3. No TCP port is opened.
 */
import { join } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import { ensureDirectory } from "../../host/files.ts";
import { acquireLock, lockHolder } from "../../host/lock-file.ts";
import type { Logger } from "../../host/log.ts";
import type { ProcessIdentity } from "../../host/process-identity.ts";
import { type Home, nameIn, openHome, removeHome } from "./home.ts";
import { type Children, endLeftovers, readChildren, recordChildren } from "./leftovers.ts";
import { type DatabaseSocket, ensureDatabase, preparePostgres } from "./postgres.ts";
import { prepareRestate, type RestateEndpoints } from "./restate.ts";
import { type Program, type ProgramName, supervise, type Supervised } from "./supervisor.ts";
import { startWatch } from "./watch.ts";

export type { DatabaseSocket, RestateEndpoints };

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: Logger;
  /** Ends the start wherever it is; once started, they run until `stop`. */
  readonly giveUp?: AbortSignal;
}

export interface Embedded {
  readonly database: DatabaseSocket;
  readonly restate: RestateEndpoints;
  /** Called when a program died and answers again; the answer takes the listener away. */
  onRestart(listener: (name: ProgramName) => void): () => void;
  /** The processes as they are now. */
  processes(): Children;
  stop(): Promise<void>;
}

export async function startEmbedded({ dataDir, log, giveUp }: EmbeddedOptions): Promise<Embedded> {
  const home = await openHome(dataDir);
  const lock = await acquireLock(home.path, "embedded"); // (1)
  if (lock.kind === "held") {
    throw folderInUse(dataDir, lock.by);
  }
  await endLeftovers(home.path, log); // (2)
  await ensureDirectory(home.logDir);
  const engines = await startEngines(home, log, giveUp).catch(async (error: unknown) => {
    await lock.release();
    throw error;
  });
  return {
    ...engines,
    stop: async () => {
      await engines.stop();
      await lock.release();
    },
  };
}

/** Refuses a folder whose engines a living server runs, before anything is made in it. */
export async function refuseFolderInUse(dataDir: string): Promise<void> {
  const holder = await lockHolder(nameIn(dataDir), "embedded");
  if (holder !== undefined) throw folderInUse(dataDir, holder);
}

const folderInUse = (dataDir: string, { pid }: ProcessIdentity): FairleadError =>
  new FairleadError("DATA_DIR_IN_USE", `${dataDir} is in use by the process ${pid}`, { pid });

/** Removes the engines' data, wherever it lies. */
export async function removeEmbedded(dataDir: string): Promise<void> {
  await removeHome(dataDir);
}

/** The same for a folder that a killed run may still be using: what it left running is ended first. */
export async function discardEmbedded(dataDir: string, log: Logger): Promise<void> {
  const home = await openHome(dataDir);
  const lock = await acquireLock(home.path, "embedded"); // (1)
  if (lock.kind === "held") {
    throw folderInUse(dataDir, lock.by);
  }
  await endLeftovers(home.path, log);
  await lock.release();
  await removeHome(dataDir);
}

/** Which processes a server on this data folder runs, as a test or an operator sees it from outside. */
export async function embeddedProcesses(dataDir: string): Promise<Children> {
  return readChildren((await openHome(dataDir)).path);
}

async function startEngines(home: Home, log: Logger, giveUp: AbortSignal | undefined): Promise<Embedded> {
  const [postgres, restate] = await Promise.all([preparePostgres(home, giveUp), prepareRestate(home)]);
  const watch = await startWatch(log);
  const listeners = new Set<(name: ProgramName) => void>();
  let children: Children = {};
  let recorded = Promise.resolve();

  const start = async (program: Program): Promise<Supervised> =>
    supervise(program, {
      log,
      logFile: join(home.logDir, `${program.name}.log`),
      giveUp,
      spawned: async (identity) => {
        children = { ...children, [program.name]: identity };
        watch.over(Object.values(children)); // first: it needs no disk
        const record = async (): Promise<void> => recordChildren(home.path, children);
        recorded = recorded.then(record, record); // one that failed fails its own start, not those to come
        await recorded;
      },
      restarted: () => {
        for (const listener of listeners) listener(program.name);
      },
    });

  const starts = await Promise.allSettled([start(postgres.program), start(restate.program)]);

  async function stop(): Promise<void> {
    const running = starts.filter((each) => each.status === "fulfilled").map((each) => each.value);
    await Promise.all(running.map(async (each) => each.stop()));
    await recordChildren(home.path, {});
    watch.end();
  }

  try {
    for (const each of starts) if (each.status === "rejected") throw each.reason;
    await ensureDatabase(postgres.socket);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    database: postgres.socket,
    restate: restate.endpoints,
    processes: () => children,
    stop,
    onRestart(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
