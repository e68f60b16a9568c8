/**
 * The operators' API as the CLI sees it.
 *
 * 1. Every answer is parsed by its schema; an error answer becomes the error it names.
 * 2. A token that was refused is replaced once, by exchange of the API key; then the refusal stands.
 */
import type { Readable } from "node:stream";
import type { ZodType } from "zod";
import type { ErrorCode } from "../core/error-codes.ts";
import { FairleadError, isErrorCode } from "../core/errors.ts";
import { ErrorResponse } from "../core/protocol/operator-api.ts";
import { createHttpClient, jsonOf, type HttpRequest, type HttpResponse } from "../host/bounded-http.ts";
import { collectStream } from "./collect-stream.ts";

export interface Credentials {
  token(): Promise<string>;
  /** A new token in place of one that was refused. */
  renew(): Promise<string>;
}

export interface Api {
  get<T>(path: string, schema: ZodType<T>): Promise<T>;
  /** With a key, asking twice is one wish. */
  post<T>(path: string, body: unknown, schema: ZodType<T>, idempotencyKey?: string): Promise<T>;
  put<T>(path: string, body: unknown, schema: ZodType<T>): Promise<T>;
  /** Answers with nothing. */
  delete(path: string): Promise<void>;
  /** The body of an event stream; the caller destroys it. */
  events(path: string, lastEventId: number | null, signal: AbortSignal): Promise<Readable>;
  close(): void;
}

const REQUEST_TIMEOUT_MS = 30_000;
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;
/** The server pings every 15 s: three missed pings are a dead connection. */
const EVENTS_IDLE_TIMEOUT_MS = 45_000;
const EVENTS_BYTES_MAX = 1024 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;

export function openApi(server: string, credentials: Credentials | null): Api {
  const client = createHttpClient({ origin: server });

  /** Invariant 2. */
  async function authorized<T extends { readonly status: number }>(
    send: (headers: Record<string, string>) => Promise<T>,
    drop: (refused: T) => void,
  ): Promise<T> {
    if (credentials === null) return send({});
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const first = await send(bearer(await credentials.token()));
    if (first.status !== 401) return first;
    drop(first);
    return send(bearer(await credentials.renew()));
  }

  const send = (path: string, request: HttpRequest): Promise<HttpResponse> =>
    authorized(
      (headers) =>
        client.request(path, {
          ...request,
          headers: { accept: "application/json", ...request.headers, ...headers },
          timeoutMs: REQUEST_TIMEOUT_MS,
          maxResponseBytes: RESPONSE_BYTES_MAX,
        }),
      () => undefined,
    );

  const call = async <T>(path: string, request: HttpRequest, schema: ZodType<T>): Promise<T> =>
    parsed(path, await send(path, request), schema);

  return {
    close: () => client.close(),
    get: (path, schema) => call(path, { method: "GET" }, schema),
    post: (path, body, schema, key) =>
      call(
        path,
        { method: "POST", json: body, ...(key === undefined ? {} : { headers: { "idempotency-key": key } }) },
        schema,
      ),
    put: (path, body, schema) => call(path, { method: "PUT", json: body }, schema),
    async delete(path) {
      const response = await send(path, { method: "DELETE" });
      if (response.status < 200 || response.status > 299) throw errorOf(response);
    },
    async events(path, lastEventId, signal) {
      const stream = await authorized(
        (headers) =>
          client.stream(path, {
            headers: {
              accept: "text/event-stream",
              ...(lastEventId === null ? {} : { "last-event-id": String(lastEventId) }),
              ...headers,
            },
            idleTimeoutMs: EVENTS_IDLE_TIMEOUT_MS,
            maxResponseBytes: EVENTS_BYTES_MAX,
            signal,
          }),
        ({ body }) => body.destroy(),
      );
      if (stream.status === 200) return stream.body;
      throw errorOf({ ...stream, body: await collectStream(stream.body, ERROR_BYTES_MAX) });
    },
  };
}

function parsed<T>(path: string, response: HttpResponse, schema: ZodType<T>): T {
  if (response.status < 200 || response.status > 299) throw errorOf(response);
  const result = schema.safeParse(jsonOf(response));
  if (result.success) return result.data;
  const { path: at, message } = result.error.issues[0]!;
  const where = at.length === 0 ? "" : ` at ${at.join(".")}`;
  throw new FairleadError("UNREACHABLE", `the answer to ${path} is not understood${where}: ${message}`);
}

/** For an answer whose code is none of ours: a proxy's, or a newer server's. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: "INVALID_INPUT",
  401: "UNAUTHENTICATED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "STATE_MOVED",
  413: "PAYLOAD_TOO_LARGE",
  422: "INVALID_INPUT",
  429: "TOO_MANY_REQUESTS",
  502: "UNREACHABLE",
  503: "NOT_READY",
  504: "TIMEOUT",
};

function errorOf(response: HttpResponse): FairleadError {
  const fallback = CODE_OF_STATUS[response.status] ?? (response.status >= 500 ? "INTERNAL" : "UNREACHABLE");
  const answer = ErrorResponse.safeParse(safeJson(response));
  if (!answer.success) return new FairleadError(fallback, `the server answered HTTP ${response.status}`);
  const { code, message, detail, request_id } = answer.data.error;
  const more = { ...detail, request_id };
  if (isErrorCode(code)) return new FairleadError(code, message, more);
  return new FairleadError(fallback, `${code}: ${message}`, more);
}

function safeJson(response: HttpResponse): unknown {
  try {
    return jsonOf(response);
  } catch {
    return undefined;
  }
}
