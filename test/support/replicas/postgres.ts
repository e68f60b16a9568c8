/** A PostgreSQL of the site's own, as its operators would run it: on a port, apart from any server of ours. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { ensureDatabase, preparePostgres } from "../../../src/server/embedded/postgres.ts";
import { openHome, removeHome } from "../../../src/server/embedded/home.ts";
import { isAlive, type ProcessIdentity } from "../../../src/host/process-identity.ts";
import { eventually } from "../lab/eventually.ts";
import { killHard, type LabProcesses } from "../lab/processes.ts";
import { freePort } from "../programs/free-port.ts";

export type SharedPostgres = Awaited<ReturnType<typeof startSharedPostgres>>;

/** `env`: more of its environment. */
export async function startSharedPostgres(
  folder: string,
  processes: LabProcesses,
  env: Readonly<Record<string, string>> = {},
) {
  const dataDir = join(folder, "database");
  await mkdir(dataDir, { mode: 0o711 });
  const home = await openHome(dataDir);
  const { program, socket } = await preparePostgres(home);
  const port = await freePort();
  const { file, args, ...command } = program.command;
  const options = { ...command, env: { ...command.env, ...env } };
  const ours = ["listen_addresses=127.0.0.1", "max_connections=200", "fsync=off"];
  const changed = args.map((arg) => (arg === "5432" ? String(port) : arg));
  let running: ProcessIdentity;

  /** Again and again, as a supervisor does: after a SIGKILL it does not start before its last child is gone. */
  async function start(): Promise<void> {
    await program.prepare();
    const all = [...changed, ...ours.flatMap((each) => ["-c", each])];
    running = await processes.start("postgres", file, all, options);
    await eventually("PostgreSQL answers", async () => {
      if (!isAlive(running)) running = await processes.start("postgres", file, all, options);
      return answers("postgres");
    });
  }

  const urlOf = (database: string): string =>
    `postgres://${socket.user}:${socket.password}@127.0.0.1:${port}/${database}`;

  async function answers(database: string): Promise<boolean> {
    const sql = postgres(urlOf(database), { max: 1, connect_timeout: 2, onnotice: () => undefined });
    try {
      await sql`select 1`;
      return true;
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  await start();
  await ensureDatabase({ ...socket, path: join(home.postgresDir, `.s.PGSQL.${port}`) });
  return {
    url: urlOf(socket.database),
    urlOf,
    kill: async (): Promise<void> => killHard(running),
    startAgain: start,
    remove: async (): Promise<void> => removeHome(dataDir),
  };
}
