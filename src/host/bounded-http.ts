/**
 * The one HTTP client of server, agent and CLI: every request has a time and a size, so that a peer that drips bytes
 * or never ends is cut off. Codes: UNREACHABLE, TIMEOUT, PAYLOAD_TOO_LARGE; the caller's own abort comes back as it is.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { FairleadError } from "../core/errors.ts";
import { errnoOf } from "./file-errors.ts";
import { boundedBody, collectBody } from "./http-body.ts";
import { type Exchange, type HttpRequest, type HttpTarget, openExchange } from "./http-exchange.ts";

export type { HttpRequest, HttpTarget } from "./http-exchange.ts";

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface HttpStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Fails with PAYLOAD_TOO_LARGE, TIMEOUT (idle) or UNREACHABLE; destroy it when it is not read to its end. */
  readonly body: Readable;
}

export interface HttpClient {
  request(path: string, request?: HttpRequest): Promise<HttpResponse>;
  stream(path: string, request: HttpRequest & { readonly idleTimeoutMs?: number }): Promise<HttpStream>;
  /** Closes kept connections; what is under way fails. */
  close(): void;
}

const TIMEOUT_MS_DEFAULT = 10_000;
const IDLE_TIMEOUT_MS_DEFAULT = 15_000;
const RESPONSE_BYTES_MAX_DEFAULT = 4 * 1024 * 1024;

export function createHttpClient(target: HttpTarget): HttpClient {
  const exchange = openExchange(target);
  return {
    close: () => exchange.close(),
    async request(path, request = {}) {
      // The answer to a HEAD tells the length of a body that never comes.
      const bytesMax =
        request.method === "HEAD" ? Infinity : (request.maxResponseBytes ?? RESPONSE_BYTES_MAX_DEFAULT);
      return beforeDeadline(exchange, path, request, async (signal) => {
        const response = await exchange.send(path, request, signal);
        const body = await collectBody(response, bytesMax);
        return { status: response.statusCode ?? 0, headers: response.headers, body };
      });
    },
    async stream(path, request) {
      const { maxResponseBytes = RESPONSE_BYTES_MAX_DEFAULT, idleTimeoutMs = IDLE_TIMEOUT_MS_DEFAULT } =
        request;
      return beforeDeadline(exchange, path, request, async (signal) => {
        const response = await exchange.send(path, request, signal);
        const body = boundedBody(response, { maxResponseBytes, idleTimeoutMs });
        return { status: response.statusCode ?? 0, headers: response.headers, body };
      });
    },
  };
}

/** The body as JSON; what it holds is for a schema to say. */
export function jsonOf(response: HttpResponse): unknown {
  try {
    return JSON.parse(response.body.toString("utf8"));
  } catch {
    throw new FairleadError("UNREACHABLE", `the answer (HTTP ${response.status}) is not JSON`);
  }
}

/** Whose abort it was decides what it means: the caller's own comes back as it is, the deadline's is a TIMEOUT. */
async function beforeDeadline<T>(
  exchange: Exchange,
  path: string,
  { timeoutMs = TIMEOUT_MS_DEFAULT, signal: callers }: HttpRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    return await work(callers === undefined ? deadline.signal : AbortSignal.any([callers, deadline.signal]));
  } catch (error) {
    if (callers?.aborted === true) throw callers.reason;
    const where = exchange.describe(path);
    if (deadline.signal.aborted)
      throw new FairleadError("TIMEOUT", `${where} did not answer in time`, undefined, error);
    if (error instanceof FairleadError) throw error;
    const cause = errnoOf(error) ?? (error instanceof Error ? error.message : String(error));
    throw new FairleadError("UNREACHABLE", `${where} is unreachable: ${cause}`, { cause }, error);
  } finally {
    clearTimeout(timer);
  }
}
