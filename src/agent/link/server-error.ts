/** A refusal of the server as our own error: its code if we know it, never its text unbounded. */
import { FairleadError, isErrorCode } from "../../core/errors.ts";
import type { HttpResponse } from "../../host/bounded-http.ts";

const MESSAGE_CHARS_MAX = 300;

export function serverError(response: HttpResponse): FairleadError {
  const { code, message } = readError(response.body);
  const text = message.slice(0, MESSAGE_CHARS_MAX) || `the server answered ${response.status}`;
  return new FairleadError(isErrorCode(code) ? code : "UNREACHABLE", text, { status: response.status });
}

function readError(body: Buffer): { code: unknown; message: string } {
  try {
    const { error } = JSON.parse(body.toString("utf8")) as { error?: { code?: unknown; message?: unknown } };
    return { code: error?.code, message: typeof error?.message === "string" ? error.message : "" };
  } catch {
    return { code: undefined, message: "" };
  }
}
