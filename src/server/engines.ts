/** PostgreSQL and Restate: our own inside the data folder, or the site's. Everything after this is the same code. */
import { FairleadError } from "../core/errors.ts";
import type { Logger } from "../host/log.ts";
import type { ServerConfig } from "./config.ts";
import { openDatabase, type Database, type DatabaseOptions } from "./db/database.ts";
import type { EngineAddress } from "./drive/engine.ts";
import { discardEmbedded, removeEmbedded, startEmbedded } from "./embedded/embedded.ts";

export interface Engines {
  readonly db: Database;
  /** How to open it once more. */
  readonly database: DatabaseOptions;
  readonly restate: EngineAddress;
  stop(): Promise<void>;
}

/** `giveUp` ends a start that is under way. */
export async function startEngines(config: ServerConfig, log: Logger, giveUp: AbortSignal): Promise<Engines> {
  const { engines, dataDir } = config;
  if (engines.kind === "external") {
    const database = { url: engines.databaseUrl };
    const db = openDatabase(database, log);
    const restate = {
      ingress: engines.restateUrls.map((url) => ({ origin: new URL(url).origin })),
      admin: engines.restateAdminUrls.map((url) => ({ origin: new URL(url).origin })),
      identityKey: engines.identityKey,
    };
    await db`select 1`.catch((cause: unknown) => {
      throw new FairleadError(
        "UNREACHABLE",
        "the database does not answer at --database-url",
        undefined,
        cause,
      );
    });
    return { db, database, restate, stop: () => db.end({ timeout: 5 }) };
  }
  if (engines.ephemeral) await discardEmbedded(dataDir, log);
  const embedded = await startEmbedded({ dataDir, log, giveUp }).catch(async (error: unknown) => {
    if (engines.ephemeral) await removeEmbedded(dataDir);
    throw error;
  });
  const database = { socket: embedded.database };
  const db = openDatabase(database, log);
  const { ingress, admin, publicIdentity } = embedded.restate;
  return {
    db,
    database,
    restate: { ingress: [ingress], admin: [admin], identityKey: publicIdentity },
    async stop() {
      await db.end({ timeout: 5 });
      await embedded.stop();
      if (engines.ephemeral) await removeEmbedded(dataDir);
    },
  };
}
