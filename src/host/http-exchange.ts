/**
 * One request and its response's head, over kept connections.
 *
 * 1. An exchange speaks to its one origin: no redirect is followed and no path leads elsewhere.
 * 2. Only what is safe to repeat is sent again, and only when a kept connection turned out to be dead.
 */
import type * as Http from "node:http";
import * as https from "node:https";
import type { LookupFunction } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { FairleadError } from "../core/errors.ts";
import { errnoOf } from "./file-errors.ts";
import { type Undated, UndatedAgent } from "./undated-tls.ts";

// Imported, it would hand over its WebSocket as well, and with it a second HTTP client: 3 MB in each agent.
const http = process.getBuiltinModule("node:http");

/** A subset of Node's: `rejectUnauthorized: false` is only for fetching what a pin then decides about. */
type TlsOptions = Pick<
  ConnectionOptions,
  "ca" | "cert" | "key" | "servername" | "checkServerIdentity" | "rejectUnauthorized" | "minVersion"
>;

export interface HttpTarget {
  /** Such as `https://host:8443`; with a socket path, `http://localhost`. */
  readonly origin: string;
  readonly socketPath?: string;
  readonly tls?: TlsOptions;
  /** For a machine whose clock may be unset; `tls.ca` is then one pinned root. */
  readonly undated?: Undated;
  readonly maxSockets?: number;
  /** How long a new connection may take, TLS included: a host that is off answers nothing at all. */
  readonly connectTimeoutMs?: number;
  /** Resolves names in place of the system, to refuse addresses after resolution. */
  readonly lookup?: LookupFunction;
}

export interface HttpRequest {
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bytes?: Uint8Array;
  /** For the whole exchange; for `stream`, until the headers are there. */
  readonly timeoutMs?: number;
  readonly maxResponseBytes?: number;
  readonly signal?: AbortSignal;
}

export interface Exchange {
  send(path: string, request: HttpRequest, signal: AbortSignal): Promise<Http.IncomingMessage>;
  describe(path: string): string;
  close(): void;
}

const MAX_SOCKETS_DEFAULT = 64;
const REPEATABLE = new Set(["GET", "HEAD"]);

export function openExchange(target: HttpTarget): Exchange {
  const { origin, socketPath, tls, maxSockets, lookup, connectTimeoutMs } = target;
  const base = new URL(origin);
  const secure = base.protocol === "https:";
  if (!secure && base.protocol !== "http:")
    throw new FairleadError("INVALID_INPUT", `${origin} is no HTTP address`);
  const agentOptions = { keepAlive: true, maxSockets: maxSockets ?? MAX_SOCKETS_DEFAULT };
  const agent = secure ? secureAgent({ ...agentOptions, ...tls }, target) : new http.Agent(agentOptions);

  const attempt = (url: URL, request: HttpRequest, signal: AbortSignal): Attempt => {
    const body = bodyOf(request);
    const outgoing = (secure ? https : http).request(url, {
      agent,
      signal,
      method: request.method ?? "GET",
      headers: headersOf(request, body),
      ...(socketPath === undefined ? {} : { socketPath }),
      ...(lookup === undefined ? {} : { lookup }),
    });
    const response = new Promise<Http.IncomingMessage>((done, fail) => {
      outgoing.once("response", done);
      outgoing.on("error", fail);
    });
    if (connectTimeoutMs !== undefined) boundConnect(outgoing, secure, connectTimeoutMs);
    outgoing.end(body);
    return { outgoing, response };
  };

  return {
    describe: (path) => `${socketPath ?? base.origin} ${path}`,
    close: () => agent.destroy(),
    async send(path, request, signal) {
      const url = new URL(path, base);
      if (url.origin !== base.origin)
        throw new FairleadError("INVALID_INPUT", `${path} leaves ${base.origin}`); // (1)
      const { outgoing, response } = attempt(url, request, signal);
      try {
        return await response;
      } catch (error) {
        const dead = outgoing.reusedSocket && errnoOf(error) === "ECONNRESET";
        if (!dead || !REPEATABLE.has(outgoing.method)) throw error;
        return attempt(url, request, signal).response; // (2)
      }
    },
  };
}

const secureAgent = (
  options: https.AgentOptions,
  { undated, connectTimeoutMs }: Pick<HttpTarget, "undated" | "connectTimeoutMs">,
): https.Agent =>
  undated === undefined ? new https.Agent(options) : new UndatedAgent(options, undated, connectTimeoutMs);

interface Attempt {
  readonly outgoing: Http.ClientRequest;
  readonly response: Promise<Http.IncomingMessage>;
}

function boundConnect(outgoing: Http.ClientRequest, secure: boolean, timeoutMs: number): void {
  outgoing.once("socket", (socket) => {
    if (outgoing.reusedSocket || !socket.connecting) return; // `UndatedAgent` bounds its own connections
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`no connection within ${timeoutMs} ms`)),
      timeoutMs,
    );
    socket.once(secure ? "secureConnect" : "connect", () => clearTimeout(timer));
    socket.once("close", () => clearTimeout(timer));
  });
}

function bodyOf({ json, bytes }: HttpRequest): Uint8Array | undefined {
  return json === undefined ? bytes : Buffer.from(JSON.stringify(json));
}

function headersOf({ json, headers }: HttpRequest, body: Uint8Array | undefined): Record<string, string> {
  return {
    ...(json === undefined ? {} : { "content-type": "application/json" }),
    ...(body === undefined ? {} : { "content-length": String(body.length) }),
    ...headers,
  };
}
