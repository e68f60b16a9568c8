// A real PostgreSQL for a test file, and a fresh, migrated database for each test that asks.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { createLogger, silentLogger } from "../../src/host/log.ts";
import { openDatabase, type Database } from "../../src/server/db/database.ts";
import { migrate } from "../../src/server/db/migrate.ts";
import { openHome, removeHome } from "../../src/server/embedded/home.ts";
import { preparePostgres, type DatabaseSocket } from "../../src/server/embedded/postgres.ts";
import { supervise } from "../../src/server/embedded/supervisor.ts";
import { startWatch } from "../../src/server/embedded/watch.ts";
import { ensureDirectory } from "../../src/host/files.ts";

export interface TestDatabases {
  /** A migrated database of its own; closed by `stop` if the test does not. */
  fresh(): Promise<{ readonly db: Database; readonly socket: DatabaseSocket }>;
  /** An empty one, not migrated. */
  empty(): Promise<{ readonly db: Database; readonly socket: DatabaseSocket }>;
  /** A second pool on the same database, as another replica has it. */
  open(socket: DatabaseSocket): Database;
  stop(): Promise<void>;
}

const TEMPLATE = "migrated";
const POOL_MAX = 6;
/** These databases end with the test: waiting for the disk would only make it slower. */
const NOT_DURABLE = ["fsync", "synchronous_commit", "full_page_writes"].flatMap((name) => [
  "-c",
  `${name}=off`,
]);

export async function startTestDatabases(): Promise<TestDatabases> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-db-"));
  const home = await openHome(folder);
  await ensureDirectory(home.logDir);
  const { program, socket } = await preparePostgres(home);
  const watch = await startWatch(silentLogger);
  const { command } = program;
  const running = await supervise(
    { ...program, command: { ...command, args: [...command.args, ...NOT_DURABLE] } },
    {
      log: createLogger({ level: "error" }),
      logFile: join(home.logDir, "postgres.log"),
      spawned: async (identity) => watch.over([identity]),
      restarted: () => undefined,
    },
  );
  const admin = postgres({ ...socket, database: "postgres", max: 1, onnotice: () => undefined });
  const opened = new Set<Database>();
  const open = (where: DatabaseSocket): Database => {
    const db = openDatabase({ socket: where, poolMax: POOL_MAX }, silentLogger);
    opened.add(db);
    return db;
  };
  let count = 0;

  async function create(template?: string): Promise<{ db: Database; socket: DatabaseSocket }> {
    const database = `test_${++count}`;
    await admin.unsafe(`create database ${database} ${template === undefined ? "" : `template ${template}`}`);
    return { db: open({ ...socket, database }), socket: { ...socket, database } };
  }

  await admin.unsafe(`create database ${TEMPLATE}`);
  const template = open({ ...socket, database: TEMPLATE });
  await migrate(template);
  await template.end();

  return {
    open,
    fresh: async () => create(TEMPLATE),
    empty: async () => create(),
    async stop() {
      await Promise.all(
        [admin, ...opened].map(async (each) => each.end({ timeout: 1 }).catch(() => undefined)),
      );
      await running.stop();
      watch.end();
      await removeHome(folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
