/**
 * Corrections of the database driver, made while it is loaded (ADR 7). A version that has other lines is loaded as it
 * is; a test says when that is.
 *
 * 1. postgres 3.4.9 writes to a connection that was closed under it (its issues 1066, 1154, 1208): the rollback of a
 *    transaction whose database was killed throws from a timer, where nobody can catch it, and ends the server. With
 *    these lines the write fails like any other.
 * 2. It stops reading while the reader of a COPY is slow, and does not begin again when the COPY has ended meanwhile;
 *    and it tells nobody that a COPY failed. Either way somebody would wait for ever.
 */
import { registerHooks } from "node:module";

const FILE = "/node_modules/postgres/src/connection.js";

const CORRECTIONS: readonly (readonly [from: string, to: string])[] = [
  [
    "function nextWrite(fn) {\n",
    "function nextWrite(fn) {\n    if (socket === null) {\n      chunk = nextWriteTimer = null\n" +
      "      error(Errors.connection('CONNECTION_CLOSED', options, socket))\n      return false\n    }\n",
  ],
  [
    "    stream && stream.push(null)\n    stream = null\n",
    "    stream && stream.push(null)\n    stream = null\n    socket.resume()\n",
  ],
  [
    "      errorResponse = Errors.postgres(parseError(x))\n",
    "      errorResponse = Errors.postgres(parseError(x))\n      final && (final(errorResponse), final = null)\n" +
      "      stream && (stream.destroy(errorResponse), stream = null)\n",
  ],
  // What was not sent to the old socket is nothing for the next one, and no timer is pending any more.
  [
    "    clearImmediate(nextWriteTimer)\n    socket.removeListener('data', data)\n    socket.removeListener('connect', connected)\n    idleTimer",
    "    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n    socket.removeListener('data', data)\n    socket.removeListener('connect', connected)\n    idleTimer",
  ],
];

/** Null: these are not the lines that it corrects. */
export function correctDriver(source: string): string | null {
  if (!CORRECTIONS.every(([from]) => source.split(from).length === 2)) return null;
  return CORRECTIONS.reduce((text, [from, to]) => text.replace(from, () => to), source);
}

/** Before anything imports the driver. */
export function loadDriverCorrected(): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(FILE) || loaded.source === undefined || loaded.source === null) return loaded;
      const text =
        typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
      return { ...loaded, source: correctDriver(text) ?? text };
    },
  });
}
