/** `fairlead server`: one line of JSON when it listens, structured logs on stderr. */
import { EXIT } from "../core/error-codes.ts";
import { exitCodeOf, FairleadError } from "../core/errors.ts";
import { createLogger } from "../host/log.ts";
import { createShutdown } from "../host/shutdown.ts";
import { parseServerConfig } from "./config.ts";
import { SERVER_HELP } from "./help.ts";
import { serve } from "./serve.ts";

export async function main(argv: string[]): Promise<number | void> {
  try {
    const config = parseServerConfig(argv, process.env);
    if (config === "help") {
      process.stdout.write(SERVER_HELP);
      return EXIT.ok;
    }
    const log = createLogger({ level: config.logLevel, bindings: { part: "server" } });
    const shutdown = createShutdown({ log });
    try {
      const listening = await serve(config, log, shutdown);
      process.stdout.write(`${JSON.stringify({ event: "listening", ...listening })}\n`);
    } catch (error) {
      await shutdown.shutdown("start failed");
      throw error;
    }
  } catch (error) {
    return complain(error);
  }
}

function complain(error: unknown): number {
  if (error instanceof FairleadError) {
    const { code, message, next } = error.body();
    process.stderr.write(`error ${code}: ${message}\nwhat to do: ${next}\n`);
    return exitCodeOf(code);
  }
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  const usage = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  return usage ? EXIT.usage : EXIT.failed;
}
