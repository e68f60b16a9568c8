/**
 * The one way to the operators' API: core's schemas in, core's error out.
 *
 * 1. Every failure is a `FairleadError`: a code the user can look up, and what to do next.
 * 2. The session is an HttpOnly cookie; no secret is ever held here.
 */
import type { z } from "zod";
import { FairleadError, isErrorCode } from "../../core/errors.ts";
import { ErrorResponse } from "../../core/protocol/operator-api.ts";
import { noteServerTime } from "./server-clock.ts";

export const API = "/api/v1";

interface Call {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly body?: unknown;
  /** Sent twice, it is one wish. */
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const request = async <S extends z.ZodType>(
  schema: S,
  path: string,
  call: Call = {},
): Promise<z.infer<S>> => (await requestDated(schema, path, call)).data;

/** With the server's own time of the answer, to tell which events it already contains. */
export async function requestDated<S extends z.ZodType>(
  schema: S,
  path: string,
  call: Call = {},
): Promise<{ data: z.infer<S>; asOf: number }> {
  const answer = await send(path, call);
  const parsed = schema.safeParse(await readJson(answer));
  const asOf = Date.parse(answer.headers.get("date") ?? "") || 0;
  if (parsed.success) return { data: parsed.data, asOf };
  // The page may be older than the server that answers, after an upgrade of the server.
  throw new FairleadError("INTERNAL", `the server answered ${path} in an unexpected shape; reload this page`);
}

/** For calls that answer without a body. */
export async function send(
  path: string,
  { method = "GET", body, key, signal }: Call = {},
): Promise<Response> {
  const answer = await fetch(`${API}${path}`, {
    method,
    credentials: "same-origin",
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted === true) throw cause;
    throw new FairleadError("UNREACHABLE", "the server does not answer", undefined, cause);
  });
  noteServerTime(Date.parse(answer.headers.get("date") ?? "") || 0, Date.now());
  if (!answer.ok) throw await errorOf(answer);
  return answer;
}

async function readJson(answer: Response): Promise<unknown> {
  try {
    return await answer.json();
  } catch (cause) {
    throw new FairleadError("UNREACHABLE", "the answer broke off", undefined, cause);
  }
}

async function errorOf(answer: Response): Promise<FairleadError> {
  const parsed = ErrorResponse.safeParse(await answer.json().catch(() => null));
  if (!parsed.success)
    return new FairleadError(codeOfStatus(answer.status), `the server answered ${answer.status}`);
  const { code, message, detail, request_id } = parsed.data.error;
  return new FairleadError(isErrorCode(code) ? code : codeOfStatus(answer.status), message, {
    ...detail,
    request_id,
  });
}

/** A proxy in between answers without our codes. */
function codeOfStatus(status: number) {
  if (status === 401) return "UNAUTHENTICATED";
  if (status === 403) return "FORBIDDEN";
  if (status === 404) return "NOT_FOUND";
  if (status === 429) return "TOO_MANY_REQUESTS";
  return status === 502 || status === 503 || status === 504 ? "NOT_READY" : "INTERNAL";
}
