/** A server on a full disk is not ready: what it accepts could not be stored. */
import { LIMITS } from "../core/limits.ts";
import type { Clock } from "../host/clock.ts";
import { diskProblem } from "../host/disk-space.ts";
import type { ServerConfig } from "./config.ts";
import { openHome } from "./embedded/home.ts";

/** Each look writes and syncs a file: however often readiness is asked for, it is one a second. */
const LOOK_EVERY_MS = 1_000;

export async function createDiskCheck(
  { dataDir, engines }: Pick<ServerConfig, "dataDir" | "engines">,
  clock: Pick<Clock, "monotonic">,
): Promise<() => Promise<readonly string[]>> {
  // The engines may live on another disk than the folder that names them.
  const folders = engines.kind === "embedded" ? [dataDir, (await openHome(dataDir)).path] : [dataDir];
  let lookedAt = -Infinity;
  let last: Promise<readonly string[]> = Promise.resolve([]);
  return () => {
    if (clock.monotonic() - lookedAt >= LOOK_EVERY_MS) {
      lookedAt = clock.monotonic();
      last = look(folders);
    }
    return last;
  };
}

async function look(folders: readonly string[]): Promise<readonly string[]> {
  const problems = await Promise.all(
    folders.map(async (folder) => diskProblem(folder, LIMITS.diskFreeBytesMin)),
  );
  return problems.filter((problem) => problem !== null);
}
