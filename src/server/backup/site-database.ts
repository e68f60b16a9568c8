/** The database of a site, for a command beside the server: the site's own, or the embedded one, running or not. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import { isMissing } from "../../host/file-errors.ts";
import { readBounded } from "../../host/files.ts";
import type { Logger } from "../../host/log.ts";
import { openDatabase, type Database } from "../db/database.ts";
import { removeEmbedded, startEmbedded } from "../embedded/embedded.ts";
import { openHome } from "../embedded/home.ts";
import { runningSocket } from "../embedded/postgres.ts";

export type SitePlace =
  | { readonly kind: "embedded"; readonly dataDir: string }
  | { readonly kind: "external"; readonly databaseUrl: string };

export interface SiteDatabase {
  readonly db: Database;
  close(): Promise<void>;
  /** Takes away what was begun here; an existing database is left as it is. */
  discard(): Promise<void>;
}

/** Not the servers' name: they end each other's transactions when those wait for long. */
const APPLICATION_NAME = "fairlead-backup";
const POOL_MAX = 2;

/** Of a site that exists; one that runs goes on running. */
export async function openSite(place: SitePlace, log: Logger): Promise<SiteDatabase> {
  if (place.kind === "external") return openExternal(place.databaseUrl, log);
  if (!(await hasEngines(place.dataDir)))
    throw new FairleadError("FILE_NOT_FOUND", `${place.dataDir} holds no embedded site`);
  return (await openRunning(place.dataDir, log)) ?? openEmbedded(place.dataDir, log);
}

/** For a site that is to be: an empty data folder, or an empty database. */
export async function openNewSite(place: SitePlace, log: Logger): Promise<SiteDatabase> {
  if (place.kind === "external") return openExternal(place.databaseUrl, log);
  const before = await hasEngines(place.dataDir);
  const opened = await openEmbedded(place.dataDir, log);
  const { dataDir } = place;
  return before
    ? opened
    : { ...opened, discard: async () => opened.close().then(() => removeEmbedded(dataDir)) };
}

async function openExternal(url: string, log: Logger): Promise<SiteDatabase> {
  const db = openDatabase({ url, poolMax: POOL_MAX, applicationName: APPLICATION_NAME }, log);
  await db`select 1`.catch(async (cause: unknown) => {
    await db.end({ timeout: 1 });
    throw new FairleadError(
      "UNREACHABLE",
      "the database does not answer at --database-url",
      undefined,
      cause,
    );
  });
  const close = () => db.end({ timeout: 5 });
  return { db, close, discard: close };
}

async function openRunning(dataDir: string, log: Logger): Promise<SiteDatabase | null> {
  const home = await openHome(dataDir);
  const password = (await readBounded(join(home.path, "postgres-password"), 1_024)).toString("utf8");
  const socket = runningSocket(home, password);
  const db = openDatabase({ socket, poolMax: POOL_MAX, applicationName: APPLICATION_NAME }, log);
  try {
    await db`select 1`;
  } catch (error) {
    await db.end({ timeout: 1 });
    log.debug("no server running", { error: String(error) });
    return null;
  }
  const close = () => db.end({ timeout: 5 });
  return { db, close, discard: close };
}

async function openEmbedded(dataDir: string, log: Logger): Promise<SiteDatabase> {
  const embedded = await startEmbedded({ dataDir, log });
  const db = openDatabase(
    { socket: embedded.database, poolMax: POOL_MAX, applicationName: APPLICATION_NAME },
    log,
  );
  async function close(): Promise<void> {
    await db.end({ timeout: 5 });
    await embedded.stop();
  }
  return { db, close, discard: close };
}

async function hasEngines(dataDir: string): Promise<boolean> {
  try {
    await access(join(dataDir, "engines"));
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
