/** JSON bodies whose bytes are kept, for routes that often need not parse them. */
import type { FastifyInstance } from "fastify";

/** For all routes of this scope. What it answers with parses such a body, and throws what the framework would have. */
export function keepJsonBytes(scope: FastifyInstance): (bytes: Buffer) => unknown {
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, bytes, done) =>
    done(null, bytes),
  );
  const parse = scope.getDefaultJsonParser("error", "error");
  return (bytes) => {
    let failure: Error | null = null;
    let value: unknown;
    void parse(undefined as never, bytes.toString("utf8"), (error, parsed) => {
      failure = error;
      value = parsed;
    });
    if (failure !== null) throw failure as Error;
    return value;
  };
}
