// A fresh, migrated database for each test that asks, on the PostgreSQL that all integration tests share.

import postgres from "postgres";
import { inject } from "vitest";
import { silentLogger } from "../../src/host/log.ts";
import { openDatabase, type Database } from "../../src/server/db/database.ts";
import type { DatabaseSocket } from "../../src/server/embedded/postgres.ts";
import { TEMPLATE } from "./database-server.ts";

export interface TestDatabases {
  /** A migrated database of its own; closed and dropped by `stop`. */
  fresh(): Promise<{ readonly db: Database; readonly socket: DatabaseSocket }>;
  /** An empty one, not migrated. */
  empty(): Promise<{ readonly db: Database; readonly socket: DatabaseSocket }>;
  /** A second pool on the same database, as another replica has it. */
  open(socket: DatabaseSocket): Database;
  stop(): Promise<void>;
}

const POOL_MAX = 6;
/** Files run at the same time, in processes of their own; one process runs several after each other. */
let count = 0;

export async function startTestDatabases(): Promise<TestDatabases> {
  const server = inject("databaseServer");
  const admin = postgres({ ...server, database: "postgres", max: 1, onnotice: () => undefined });
  const opened = new Set<Database>();
  const created: string[] = [];

  const open = (socket: DatabaseSocket): Database => {
    const db = openDatabase({ socket, poolMax: POOL_MAX }, silentLogger);
    opened.add(db);
    return db;
  };

  async function create(template: string): Promise<{ db: Database; socket: DatabaseSocket }> {
    const database = `test_${process.pid}_${++count}`;
    await admin.unsafe(`create database ${database} ${template}`);
    created.push(database);
    const socket = { ...server, database };
    return { db: open(socket), socket };
  }

  return {
    open,
    fresh: async () => create(`template ${TEMPLATE}`),
    empty: async () => create(""),
    async stop() {
      await Promise.all([...opened].map(async (each) => each.end({ timeout: 1 }).catch(() => undefined)));
      for (const database of created) await admin.unsafe(`drop database if exists ${database} with (force)`);
      await admin.end({ timeout: 1 });
    },
  };
}
