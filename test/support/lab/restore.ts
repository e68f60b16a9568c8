/** A dump of the lab's database, and its restoration: a copy of the whole database, made and put back while nobody looks. */
import postgres from "postgres";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openHome } from "../../../src/server/embedded/home.ts";
import type { Lab } from "./lab.ts";

const NAME = "fairlead";

export async function openDumps({ dataDir }: Lab) {
  const home = await openHome(dataDir);
  const password = await readFile(join(home.path, "postgres-password"), "utf8");
  const path = join(home.postgresDir, ".s.PGSQL.5432");
  const admin = postgres({
    path,
    user: "fairlead",
    password,
    database: "postgres",
    max: 1,
    onnotice: () => undefined,
  });

  /** A template must have no connection; the server opens new ones afterwards by itself. */
  async function alone(work: () => Promise<void>): Promise<void> {
    await admin.unsafe(`alter database ${NAME} allow_connections false`);
    await admin`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${NAME}`;
    await work();
    await admin.unsafe(`alter database ${NAME} allow_connections true`);
  }

  return {
    dump: (name: string) =>
      alone(async () => void (await admin.unsafe(`create database ${name} template ${NAME}`))),
    async restore(name: string): Promise<void> {
      await alone(async () => {
        await admin.unsafe(`drop database ${NAME}`);
        await admin.unsafe(`create database ${NAME} template ${name}`);
      });
    },
    close: () => admin.end({ timeout: 1 }),
  };
}
