/**
 * The container engine, over its unix socket.
 *
 * 1. Every call has a time and a size: an engine that hangs costs a call, never the agent.
 * 2. The API's version is agreed on first and stands in every path, so that an engine that is upgraded beneath us
 *    still speaks what we understood. After a lost connection it is agreed on anew.
 * 3. What the engine says reaches a message as one bounded line.
 */
import type { ZodType } from "zod";
import { FairleadError } from "../../../../core/errors.ts";
import {
  createHttpClient,
  type HttpResponse,
  type HttpStream,
  jsonOf,
} from "../../../../host/bounded-http.ts";
import { agreedVersion } from "./api-version.ts";
import { EngineVersion } from "./schemas.ts";

const QUESTION_TIMEOUT_MS = 10_000;
/** Below the budget of the actions that ask for one. */
const CHANGE_TIMEOUT_MS = 25_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const MESSAGE_CHARS_MAX = 300;

export interface Change {
  readonly method: "POST" | "DELETE";
  readonly path: string;
  readonly json?: unknown;
  /** Answers that mean "it is so already". */
  readonly fine?: readonly number[];
  /** How much longer than others it may take. */
  readonly extraMs?: number;
}

export interface Streaming {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytesMax: number;
  readonly idleMs: number;
}

export interface Engine {
  /** Null when there is no such thing. */
  get<T>(path: string, schema: ZodType<T>): Promise<T | null>;
  change(change: Change, signal?: AbortSignal): Promise<HttpResponse>;
  stream(request: Streaming, signal: AbortSignal): Promise<HttpStream>;
}

export function openEngine(
  socketPath: string,
  {
    timeoutMs = QUESTION_TIMEOUT_MS,
    changeTimeoutMs = CHANGE_TIMEOUT_MS,
    maxResponseBytes = ANSWER_BYTES_MAX,
  } = {},
): Engine {
  const http = createHttpClient({ origin: "http://localhost", socketPath, maxSockets: 4 });
  let agreed: Promise<string> | undefined;

  async function agree(): Promise<string> {
    const response = await http.request("/version", { timeoutMs, maxResponseBytes });
    if (response.status !== 200) throw refusal("/version", response);
    return agreedVersion(shaped("/version", response, EngineVersion));
  }

  /** Works on a versioned path; when the engine was lost on the way, its next version is asked for. (2) */
  async function versioned<T>(path: string, work: (path: string) => Promise<T>): Promise<T> {
    try {
      agreed ??= agree();
      return await work(`/v${await agreed}${path}`);
    } catch (error) {
      agreed = undefined;
      throw unresponsive(error);
    }
  }

  return {
    get: async (path, schema) =>
      versioned(path, async (full) => {
        const response = await http.request(full, { timeoutMs, maxResponseBytes });
        if (response.status === 404) return null;
        if (response.status !== 200) throw refusal(path, response);
        return shaped(path, response, schema);
      }),
    change: async ({ method, path, json, fine = [], extraMs = 0 }, signal) =>
      versioned(path, async (full) => {
        signal?.throwIfAborted();
        const request = http.request(full, {
          method,
          timeoutMs: changeTimeoutMs + extraMs,
          maxResponseBytes,
          ...(json === undefined ? {} : { json }),
          ...(signal === undefined ? {} : { signal }),
        });
        const response = await request.catch((error: unknown) => {
          throw isTimeout(error) ? unresponsive(error, { change: `${method} ${path}` }) : error;
        });
        if (response.status >= 300 && !fine.includes(response.status))
          throw refusal(`${method} ${path}`, response);
        return response;
      }),
    stream: async ({ path, headers, bytesMax, idleMs }, signal) =>
      versioned(path, async (full) =>
        http.stream(full, {
          method: "POST",
          headers,
          timeoutMs: idleMs,
          idleTimeoutMs: idleMs,
          maxResponseBytes: bytesMax,
          signal,
        }),
      ),
  };
}

/** For what is not JSON, or not what the API promises, UNREACHABLE. */
export function shaped<T>(path: string, response: HttpResponse, schema: ZodType<T>): T {
  const parsed = schema.safeParse(jsonOf(response));
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map((issue) => issue.path.join(".") || "(root)");
  throw new FairleadError(
    "UNREACHABLE",
    `the engine's answer to ${path} is odd at ${oneLine(places.join(", "))}`,
  );
}

function refusal(what: string, { status, body }: HttpResponse): FairleadError {
  const text = body.subarray(0, 4 * MESSAGE_CHARS_MAX).toString("utf8");
  const said = /"message"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(text)?.[1] ?? text;
  return new FairleadError("ACTION_FAILED", `the engine answered ${status} to ${what}: ${oneLine(said)}`, {
    status,
  });
}

const isTimeout = (error: unknown): boolean => error instanceof FairleadError && error.code === "TIMEOUT";

/** Silence and nonsense of the engine, in one code. A `change` in its detail may have happened, or happen yet. */
export function unresponsive(error: unknown, detail?: { readonly change: string }): unknown {
  if (!(error instanceof FairleadError) || !["TIMEOUT", "UNREACHABLE"].includes(error.code)) return error;
  return new FairleadError("RUNTIME_UNRESPONSIVE", error.message, detail ?? error.detail, error);
}

/** Words of somebody else, fit for a message. (3) */
export const oneLine = (text: string): string =>
  [...text]
    .map((character) => (character < " " || character === "\u007F" ? " " : character))
    .join("")
    .slice(0, MESSAGE_CHARS_MAX);
