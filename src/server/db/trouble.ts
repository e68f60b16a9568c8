/**
 * Failures of the database as a whole, beside those that one statement's own values cause.
 *
 * 1. Gone: no connection, or a server that starts, stops or has no connection to spare.
 * 2. Trouble: gone, or without the means to do what any statement asks: disk, memory, locks, time.
 */

/** Of the driver, and of Node's sockets. */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
]);

/** Too many connections; shutting down, crashed, starting. */
const SERVER_GONE: ReadonlySet<string> = new Set(["53300", "57P01", "57P02", "57P03"]);

/**
 * Connection, transaction state, rollback (deadlock), resources, object in use (lock timeout), intervention (statement
 * timeout), system (IO error).
 */
const TROUBLE_CLASSES: ReadonlySet<string> = new Set(["08", "25", "40", "53", "55", "57", "58"]);

const SQLSTATE = /^[0-9A-Z]{5}$/;

export function isDatabaseGone(error: unknown): boolean {
  const { code, syscall } = fieldsOf(error); // (1)
  return NO_CONNECTION.has(code) || SERVER_GONE.has(code) || syscall === "connect";
}

export function isDatabaseTrouble(error: unknown): boolean {
  const { code } = fieldsOf(error);
  return isDatabaseGone(error) || (SQLSTATE.test(code) && TROUBLE_CLASSES.has(code.slice(0, 2))); // (2)
}

function fieldsOf(error: unknown): { readonly code: string; readonly syscall: string | undefined } {
  const { code, syscall } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return { code: typeof code === "string" ? code : "", syscall };
}
