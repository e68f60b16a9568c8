/** `fairlead backup` and `fairlead restore`: programs of the server's machine, beside the server. */
import { EXIT } from "../../core/error-codes.ts";
import { createLogger } from "../../host/log.ts";
import { complain } from "../complain.ts";
import { loadDriverCorrected } from "../db/driver-fix.ts";
import { BACKUP_HELP, RESTORE_HELP } from "./help.ts";
import { parseOptions } from "./options.ts";

export async function main([command, ...argv]: string[]): Promise<number> {
  const isRestore = command === "restore";
  try {
    const options = parseOptions(argv, process.env);
    if (options === "help") {
      process.stdout.write(isRestore ? RESTORE_HELP : BACKUP_HELP);
      return EXIT.ok;
    }
    loadDriverCorrected();
    const log = createLogger({ level: "warn", bindings: { part: isRestore ? "restore" : "backup" } });
    const run = isRestore
      ? (await import("./restore.ts")).runRestore
      : (await import("./backup.ts")).runBackup;
    const { text, json } = await run(options, log);
    process.stdout.write(options.json ? `${JSON.stringify(json)}\n` : text);
    return EXIT.ok;
  } catch (error) {
    return complain(error);
  }
}
