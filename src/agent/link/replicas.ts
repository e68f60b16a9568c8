/**
 * The replicas of the control plane as an agent finds them: the one it enrolled at, and those that a signed snapshot
 * names. Whoever answers there must prove itself with the site's certificate, so an address alone is worth nothing.
 *
 * 1. A replica that is away, hung or not fit to serve is left for the next one, within the same request.
 * 2. Whoever is left is left by every request: one that still waits there would wait for nothing.
 * 3. The one that answered is kept. Agents choose their next one by lot, so that a lost replica's share spreads.
 * 4. After a 429 no request of any kind is sent before the time in Retry-After has passed.
 * 5. A control plane of before a key of a message refuses the whole message. It gets the older form of it, and the later
 *    ones of that kind at once in that form, until the connection is made anew: it may have been upgraded meanwhile.
 */
import { FairleadError } from "../../core/errors.ts";
import {
  createHttpClient,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
  type HttpTarget,
} from "../../host/bounded-http.ts";
import { sleep, systemClock, type Clock } from "../../host/clock.ts";
import { retryAfterMs, serverError } from "./server-error.ts";

export interface ReplicaRequest extends HttpRequest {
  /** The message without the keys that an older control plane refuses. */
  readonly olderJson?: unknown;
}

export interface Replicas {
  send(path: string, request: ReplicaRequest): Promise<HttpResponse>;
  close(): void;
}

export interface ReplicaOptions {
  readonly first: string;
  /** Looked at for each request: a newer snapshot may name others. */
  readonly others: () => readonly string[];
  readonly tls: HttpTarget["tls"];
  readonly undated?: HttpTarget["undated"];
  /** The order in which they are tried. */
  readonly lot: (urls: readonly string[]) => readonly string[];
  readonly clock?: Pick<Clock, "monotonic">;
}

const CONNECT_TIMEOUT_MS = 3_000;

interface Connection {
  readonly client: HttpClient;
  readonly left: AbortController;
  /** Paths at which the newer form was refused. */
  readonly older: Set<string>;
}

export function openReplicas({
  first,
  others,
  tls,
  undated,
  lot,
  clock = systemClock,
}: ReplicaOptions): Replicas {
  const connections = new Map<string, Connection>();
  let heldUntil = -Infinity;
  let current = new URL(first).origin;

  function connectionTo(origin: string): Connection {
    const open = connections.get(origin);
    if (open !== undefined) return open;
    const made = {
      client: createHttpClient({
        origin,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        ...(tls === undefined ? {} : { tls }),
        ...(undated === undefined ? {} : { undated }),
      }),
      left: new AbortController(),
      older: new Set<string>(),
    };
    connections.set(origin, made);
    return made;
  }

  function leave(origin: string, connection: Connection): void {
    if (connections.get(origin) !== connection) return;
    connections.delete(origin);
    connection.left.abort(new FairleadError("UNREACHABLE", `${origin} was left for another replica`)); // (2)
    connection.client.close();
  }

  async function exchange(connection: Connection, path: string, request: HttpRequest): Promise<HttpResponse> {
    const { left } = connection;
    const signal =
      request.signal === undefined ? left.signal : AbortSignal.any([request.signal, left.signal]);
    const response = await connection.client.request(path, { ...request, signal });
    heldUntil = Math.max(heldUntil, clock.monotonic() + retryAfterMs(response)); // (4)
    if (response.status >= 300) throw serverError(response);
    return response;
  }

  /** Invariant 5. */
  async function inFormOf(
    connection: Connection,
    path: string,
    { olderJson, ...request }: ReplicaRequest,
  ): Promise<HttpResponse> {
    const older = { ...request, json: olderJson };
    if (olderJson !== undefined && connection.older.has(path)) return exchange(connection, path, older);
    try {
      return await exchange(connection, path, request);
    } catch (error) {
      if (olderJson === undefined || !isRefusedForm(error)) throw error;
      const response = await exchange(connection, path, older);
      connection.older.add(path);
      return response;
    }
  }

  async function sendTo(origin: string, path: string, request: ReplicaRequest): Promise<HttpResponse> {
    const connection = connectionTo(origin);
    try {
      const response = await inFormOf(connection, path, request);
      current = origin; // (3)
      return response;
    } catch (error) {
      if (isAway(error)) leave(origin, connection);
      throw error;
    }
  }

  return {
    async send(path, request) {
      for (let left = heldUntil - clock.monotonic(); left > 0; left = heldUntil - clock.monotonic()) {
        await sleep(left, request.signal); // (4)
        request.signal?.throwIfAborted();
      }
      const rest = [first, ...others()]
        .map((url) => new URL(url).origin)
        .filter((origin) => origin !== current);
      let worst: unknown;
      for (const origin of [current, ...lot([...new Set(rest)])]) {
        try {
          return await sendTo(origin, path, request);
        } catch (error) {
          if (!mayHelpElsewhere(error) || request.signal?.aborted === true) throw error;
          worst = isCutOff(worst) ? worst : error; // (1)
        }
      }
      throw worst;
    },
    close() {
      for (const { client } of connections.values()) client.close();
      connections.clear();
    },
  };
}

const isRefusedForm = (error: unknown): boolean =>
  error instanceof FairleadError && error.code === "INVALID_INPUT";
const AWAY = new Set(["UNREACHABLE", "TIMEOUT", "NOT_READY"]);
const isAway = (error: unknown): boolean => error instanceof FairleadError && AWAY.has(error.code);
/** One that fails by itself may have company that does not. */
const mayHelpElsewhere = (error: unknown): boolean =>
  isAway(error) || (error instanceof FairleadError && error.code === "INTERNAL");
/** It answered, and has lost its own authority: that tells more than silence. */
const isCutOff = (error: unknown): boolean => error instanceof FairleadError && error.code === "NOT_READY";
