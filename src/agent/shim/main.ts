/**
 * The shim: one small process per program, which outlives the agent that started it.
 *
 * 1. One shim per program: it holds a lock for as long as it lives. A second one leaves, unless the first is just
 *    leaving itself: one that saw that nothing was wanted must not keep out the one that came for the next launch.
 * 2. It does what `launch.json` says once the lock is its own. A late shim of an earlier launch so serves the current
 *    one, or leaves when nothing is wanted any more.
 * 3. It listens to SIGTERM before it takes the lock: whoever finds it by the lock can stop it.
 */
import { FairleadError } from "../../core/errors.ts";
import { systemClock } from "../../host/clock.ts";
import { readJson, writeJsonDurable } from "../../host/files.ts";
import { acquireLock } from "../../host/lock-file.ts";
import { createLogger, type Logger } from "../../host/log.ts";
import { identityOf, waitForExit } from "../../host/process-identity.ts";
import { openVerified } from "./descriptor.ts";
import { surroundingsOf } from "./environment.ts";
import { Launch, launchPath, programLogPath, SHIM_LOCK, type ShimState, statePath } from "./files.ts";
import { programLog } from "./program-log.ts";
import { supervise } from "./supervise.ts";

const HAND_OVER_MS = 1_000;

/** `shim FOLDER`: the agent's subcommand. Resolves with the exit code. */
export async function runShim(folder: string): Promise<number> {
  const stopping = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => stopping.abort()); // (3)
  const log = createLogger({ bindings: { shim: folder } });
  let lock = await acquireLock(folder, SHIM_LOCK);
  while (lock.kind === "held") {
    if ((await waitForExit(lock.by, HAND_OVER_MS)) === "alive") return 0; // (1)
    lock = await acquireLock(folder, SHIM_LOCK);
  }
  try {
    const launch = await readJson(launchPath(folder), Launch); // (2)
    if (launch.wanted === "stopped" || stopping.signal.aborted) return 0;
    return await serve(folder, launch, stopping.signal, log);
  } catch (error) {
    log.error("shim exits", { error });
    return 1;
  } finally {
    await lock.release();
  }
}

async function serve(folder: string, launch: Launch, stopping: AbortSignal, log: Logger): Promise<number> {
  let state = firstState(launch);
  const note = async (change: Partial<ShimState>): Promise<void> => {
    state = { ...state, ...change };
    try {
      await writeJsonDurable(statePath(folder), state, { soleWriter: true });
    } catch (error) {
      log.error("shim state not written", { error }); // a full disk is no reason to lose sight of the program
    }
  };
  await note({});
  try {
    const surroundings = await surroundingsOf(launch.run, launch.cwd);
    const program = await openVerified(launch.program, launch.fingerprint);
    await note({ executable: program.executable });
    const output = programLog(programLogPath(folder), launch.log_bytes_max);
    await supervise({ folder, launch, program, surroundings, output, clock: systemClock, stopping, note });
    await note({ status: "stopped" });
    return 0;
  } catch (error) {
    const code = error instanceof FairleadError ? error.code : "ACTION_FAILED";
    const message = error instanceof Error ? error.message : String(error);
    await note({ status: "stopped", program: null, error: { code, message } });
    return 1;
  }
}

function firstState({ number, fingerprint, restarts, restarted_at }: Launch): ShimState {
  const shim = identityOf(process.pid);
  if (shim === undefined) throw new FairleadError("INTERNAL", "this process cannot see itself in /proc");
  return {
    launch: number,
    status: "starting",
    shim,
    program: null,
    instance_id: null,
    started_at: null,
    fingerprint,
    executable: null,
    restarts,
    restarted_at,
    last_exit: null,
    error: null,
  };
}
