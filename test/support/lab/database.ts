/** The lab's database, as somebody sees it who got hold of the server's machine. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "../../../src/host/log.ts";
import { openDatabase, type Database } from "../../../src/server/db/database.ts";
import { openHome } from "../../../src/server/embedded/home.ts";

export async function openLabDatabase({ dataDir }: { readonly dataDir: string }): Promise<Database> {
  const home = await openHome(dataDir);
  const password = await readFile(join(home.path, "postgres-password"), "utf8");
  const path = join(home.postgresDir, ".s.PGSQL.5432");
  return openDatabase(
    { socket: { path, user: "fairlead", password, database: "fairlead" }, poolMax: 2 },
    silentLogger,
  );
}
