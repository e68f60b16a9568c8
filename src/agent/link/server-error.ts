/** A refusal of the server as our own error: its code if we know it, never its text unbounded. */
import { FairleadError, isErrorCode } from "../../core/errors.ts";
import type { HttpResponse } from "../../host/bounded-http.ts";

const MESSAGE_CHARS_MAX = 300;
/** A server that asks for more than this is asked again all the same. */
const RETRY_AFTER_MS_MAX = 60_000;

export function serverError(response: HttpResponse): FairleadError {
  const { code, message } = readError(response.body);
  const text = message.slice(0, MESSAGE_CHARS_MAX) || `the server answered ${response.status}`;
  return new FairleadError(isErrorCode(code) ? code : "UNREACHABLE", text, { status: response.status });
}

/** How long the server asked the sender to wait; 0 unless it did. Only the form in seconds is understood. */
export function retryAfterMs({ status, headers }: Pick<HttpResponse, "status" | "headers">): number {
  const seconds = Number(headers["retry-after"]);
  if (status !== 429 || !Number.isFinite(seconds) || seconds < 0) return 0;
  return Math.min(seconds * 1000, RETRY_AFTER_MS_MAX);
}

function readError(body: Buffer): { code: unknown; message: string } {
  try {
    const { error } = JSON.parse(body.toString("utf8")) as { error?: { code?: unknown; message?: unknown } };
    return { code: error?.code, message: typeof error?.message === "string" ? error.message : "" };
  } catch {
    return { code: undefined, message: "" };
  }
}
