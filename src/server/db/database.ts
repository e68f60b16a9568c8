/**
 * The one way to reach PostgreSQL.
 *
 * 1. Every statement is plain SQL with bound values: `sql\`…\`` never splices text.
 * 2. A hung replica cannot hold a row for long: locks and idle transactions have bounds.
 */
import postgres from "postgres";
import type { Logger } from "../../host/log.ts";

export type Database = postgres.Sql<{ bigint: number }>;
export type Transaction = postgres.TransactionSql<{ bigint: number }>;
/** Either: for queries that run inside a transaction or alone. */
export type Queryable = Database | Transaction;

export interface DatabaseOptions {
  /** A URL, or the folder of a unix socket with its credentials. */
  readonly url?: string | undefined;
  readonly socket?: {
    readonly path: string;
    readonly user: string;
    readonly password: string;
    readonly database: string;
  };
  readonly poolMax?: number;
  readonly applicationName?: string;
}

/** What the sessions of servers are called in the database. */
export const APPLICATION_NAME = "fairlead";

const INT8_OID = 20;
const RECONNECT_WAIT_S_MAX = 1;

/**
 * Statements here ask for hundreds of rows by their keys. As if every page came from a turning disk, the planner would
 * read whole tables for them; and a worker process takes longer to start than they take.
 */
const PLANS = { random_page_cost: 1.1, max_parallel_workers_per_gather: 0, jit: "off" } as const;

export function openDatabase(options: DatabaseOptions, log: Logger): Database {
  const common = {
    max: options.poolMax ?? 20,
    idle_timeout: 60,
    connect_timeout: 10,
    // The driver's own grows with every connection of the pool that fails: a second's outage would cost twenty.
    backoff: (failures: number) => Math.min(0.05 * 2 ** Math.min(failures, 5), RECONNECT_WAIT_S_MAX),
    onnotice: () => {},
    connection: {
      application_name: options.applicationName ?? APPLICATION_NAME,
      lock_timeout: 10_000,
      idle_in_transaction_session_timeout: 15_000,
      statement_timeout: 60_000,
      ...PLANS,
    },
    // Ids and versions stay below 2^53, so a bigint column reads as a number.
    types: { bigint: { to: INT8_OID, from: [INT8_OID], serialize: String, parse: Number } },
    onclose: (connection: number) => log.debug("database connection closed", { connection }),
  };
  if (options.url !== undefined) {
    const { url, path } = withoutSocket(options.url);
    return postgres(url, path === undefined ? common : { ...common, path });
  }
  const { path, user, password, database } = options.socket!;
  return postgres({ ...common, path, user, password, database });
}

/** As libpq writes a unix socket: `postgres://USER@localhost/DATABASE?host=/run/postgresql`. */
function withoutSocket(text: string): { readonly url: string; readonly path?: string } {
  if (!URL.canParse(text)) return { url: text };
  const url = new URL(text);
  const folder = url.searchParams.get("host");
  if (folder?.startsWith("/") !== true) return { url: text };
  url.searchParams.delete("host");
  return { url: url.href, path: `${folder}/.s.PGSQL.${url.port || "5432"}` };
}
