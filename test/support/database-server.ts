// One real PostgreSQL for all integration tests: vitest starts it before the first file and stops it after the last.

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import type { TestProject } from "vitest/node";
import { ensureDirectory } from "../../src/host/files.ts";
import { createLogger, silentLogger } from "../../src/host/log.ts";
import { openDatabase } from "../../src/server/db/database.ts";
import { migrate } from "../../src/server/db/migrate.ts";
import { openHome, removeHome } from "../../src/server/embedded/home.ts";
import { preparePostgres, type DatabaseSocket } from "../../src/server/embedded/postgres.ts";
import { supervise } from "../../src/server/embedded/supervisor.ts";
import { startWatch } from "../../src/server/embedded/watch.ts";

declare module "vitest" {
  interface ProvidedContext {
    databaseServer: DatabaseSocket;
  }
}

/** Migrated once; each test's database is a copy of it. */
export const TEMPLATE = "migrated";
/** These databases end with the tests: waiting for the disk would only make them slower. */
const SETTINGS = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=400"];

let stop: () => Promise<void> = async () => undefined;

export async function setup(project: TestProject): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-db-"));
  await chmod(folder, 0o711); // PostgreSQL's account passes through
  const home = await openHome(folder);
  await ensureDirectory(home.logDir);
  const { program, socket } = await preparePostgres(home);
  const watch = await startWatch(silentLogger);
  const { command } = program;
  const args = [...command.args, ...SETTINGS.flatMap((setting) => ["-c", setting])];
  const running = await supervise(
    { ...program, command: { ...command, args } },
    {
      log: createLogger({ level: "error" }),
      logFile: join(home.logDir, "postgres.log"),
      spawned: async (identity) => watch.over([identity]),
      restarted: () => undefined,
    },
  );
  await makeTemplate(socket);
  project.provide("databaseServer", socket);
  stop = async () => {
    await running.stop();
    watch.end();
    await removeHome(folder);
    await rm(folder, { recursive: true, force: true });
  };
}

export const teardown = (): Promise<void> => stop();

async function makeTemplate(socket: DatabaseSocket): Promise<void> {
  const admin = postgres({ ...socket, database: "postgres", max: 1, onnotice: () => undefined });
  await admin.unsafe(`create database ${TEMPLATE}`);
  await admin.end();
  const template = openDatabase({ socket: { ...socket, database: TEMPLATE }, poolMax: 1 }, silentLogger);
  await migrate(template);
  await template.end();
}
