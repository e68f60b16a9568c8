/** `fairlead server`: one line of JSON when it listens, structured logs on stderr. */
import { EXIT } from "../core/error-codes.ts";
import { createLogger } from "../host/log.ts";
import { guardStreams } from "../host/standard-streams.ts";
import { createShutdown } from "../host/shutdown.ts";
import { complain } from "./complain.ts";
import { parseServerConfig } from "./config.ts";
import { loadDriverCorrected } from "./db/driver-fix.ts";
import { SERVER_HELP } from "./help.ts";

export async function main(argv: string[]): Promise<number | void> {
  guardStreams(process.stdout, process.stderr);
  try {
    const config = parseServerConfig(argv, process.env);
    if (config === "help") {
      process.stdout.write(SERVER_HELP);
      return EXIT.ok;
    }
    const log = createLogger({ level: config.logLevel, bindings: { part: "server" } });
    const shutdown = createShutdown({ log });
    loadDriverCorrected();
    const { serve } = await import("./serve.ts");
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
