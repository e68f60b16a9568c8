/** Our end of the watchdog: tells it what to end, should we not come to it ourselves. */
import { fileURLToPath } from "node:url";
import type { Logger } from "../../host/log.ts";
import { spawnChild } from "../../host/process.ts";
import type { ProcessIdentity } from "../../host/process-identity.ts";
import { siblingModule } from "../../host/sibling-module.ts";

export interface Watch {
  /** Replaces the list. */
  over(processes: readonly ProcessIdentity[]): void;
  /** Leaves what runs alone. */
  end(): void;
}

export async function startWatch(log: Logger): Promise<Watch> {
  const script = fileURLToPath(siblingModule("watchdog", import.meta));
  const { child } = await spawnChild(process.execPath, [script], { stdio: ["pipe", "ignore", "ignore"] });
  let ended = false;
  child.stdin?.on("error", () => undefined);
  child.once("exit", () => {
    // The next start still ends what is recorded: its loss costs promptness only.
    if (!ended)
      log.warn("watchdog exited: after a SIGKILL of this process, its programs run until the next start");
  });
  child.unref();
  const over = (processes: readonly ProcessIdentity[]): void => {
    child.stdin?.write(`${JSON.stringify(processes)}\n`);
  };
  return {
    over,
    end: () => {
      ended = true;
      over([]);
      child.stdin?.end();
    },
  };
}
