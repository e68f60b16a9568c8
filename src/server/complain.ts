/** The last words of a program of the server: code, message and what to do, on stderr. */
import { EXIT } from "../core/error-codes.ts";
import { exitCodeOf, FairleadError } from "../core/errors.ts";

export function complain(error: unknown): number {
  if (error instanceof FairleadError) {
    const { code, message, next } = error.body("server");
    process.stderr.write(`error ${code}: ${message}\nwhat to do: ${next}\n`);
    return exitCodeOf(code);
  }
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  const usage = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  return usage ? EXIT.usage : EXIT.failed;
}
