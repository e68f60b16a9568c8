/**
 * A real PostgreSQL of our own.
 *
 * 1. No TCP port: one unix socket in a 0700 folder, and a password besides.
 * 2. What is committed is on the disk: fsync stays on, however small the rest is set.
 */
import { join } from "node:path";
import postgres from "postgres";
import { minimalEnv } from "../../host/process.ts";
import { databaseAccount } from "./account.ts";
import type { Home } from "./home.ts";
import { postgresBinaries } from "./postgres-binaries.ts";
import { clearPidFile, ensureCluster, POSTGRES_USER } from "./postgres-cluster.ts";
import type { Program } from "./supervisor.ts";

/** How to reach it; the shape that `openDatabase` takes as `socket`. */
export interface DatabaseSocket {
  readonly path: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

const DATABASE = "fairlead";

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "", // (1)
  unix_socket_permissions: "0700",
  fsync: "on", // (2)
  synchronous_commit: "on",
  full_page_writes: "on",
  max_connections: "60",
  shared_buffers: "256MB",
  max_wal_size: "2GB",
  checkpoint_timeout: "15min",
  wal_level: "minimal",
  max_wal_senders: "0",
  jit: "off",
  log_min_messages: "warning",
  log_checkpoints: "off",
};

export async function preparePostgres(
  home: Home,
  giveUp?: AbortSignal,
): Promise<{ program: Program; socket: DatabaseSocket }> {
  const folder = home.postgresDir;
  const data = join(folder, "data");
  const account = await databaseAccount(folder);
  const binaries = await postgresBinaries(home.path);
  const passwordFile = join(home.path, "postgres-password");
  const password = await ensureCluster({
    folder,
    data,
    account,
    initdb: binaries.initdb,
    passwordFile,
    giveUp,
  });
  const socket = runningSocket(home, password);

  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: folder });
  const program: Program = {
    name: "postgres",
    command: {
      file: binaries.postgres,
      args: ["-D", data, "-p", "5432", ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      cwd: folder,
      env: minimalEnv(),
      ...account,
    },
    stopSignal: "SIGINT", // its "fast" shutdown: rolls back and leaves without waiting for clients
    stopGraceMs: 10_000,
    readyTimeoutMs: 60_000, // crash recovery replays the log first
    prepare: async () => clearPidFile(data),
    isReady: async () => answers(socket),
  };
  return { program, socket };
}

/** Where it listens when it runs. */
export const runningSocket = (home: Home, password: string): DatabaseSocket => ({
  path: join(home.postgresDir, ".s.PGSQL.5432"),
  user: POSTGRES_USER,
  password,
  database: DATABASE,
});

/** Made once; every later start finds it. */
export async function ensureDatabase(socket: DatabaseSocket): Promise<void> {
  await withClient({ ...socket, database: "postgres" }, async (sql) => {
    const found = await sql`select 1 from pg_database where datname = ${socket.database}`;
    if (found.length === 0) await sql`create database ${sql(socket.database)}`;
  });
}

async function answers(socket: DatabaseSocket): Promise<boolean> {
  try {
    await withClient({ ...socket, database: "postgres" }, async (sql) => sql`select 1`);
    return true;
  } catch {
    return false; // no socket yet, or still recovering
  }
}

async function withClient<T>(socket: DatabaseSocket, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres({ ...socket, max: 1, connect_timeout: 2, onnotice: () => undefined });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
