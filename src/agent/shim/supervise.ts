/**
 * Keeps one program alive until it is told to stop.
 *
 * 1. An instance id is claimed before the spawn, and the bytes are hashed again before each one.
 * 2. A program that ends unasked is started again, later each time; the count is kept for whoever judges health.
 * 3. A stop asks with SIGTERM and after the grace kills the whole group.
 */
import { type Clock, sleep } from "../../host/clock.ts";
import { killProcess, type ProcessIdentity } from "../../host/process-identity.ts";
import { type VerifiedProgram, spawnVerified } from "./descriptor.ts";
import { environmentOf, type Surroundings } from "./environment.ts";
import { type LastExit, type Launch, RESTARTS_LISTED_MAX, type ShimState } from "./files.ts";
import { claimInstance } from "./instance.ts";
import type { ProgramLog } from "./program-log.ts";

export interface SuperviseDeps {
  readonly folder: string;
  readonly launch: Launch;
  readonly program: VerifiedProgram;
  readonly surroundings: Surroundings;
  readonly output: ProgramLog;
  readonly clock: Clock;
  /** Aborted by SIGTERM. */
  readonly stopping: AbortSignal;
  readonly note: (change: Partial<ShimState>) => Promise<void>;
}

const LAST_WORDS_MS = 200;

export async function supervise(deps: SuperviseDeps): Promise<void> {
  const { launch, clock, stopping, note } = deps;
  const restarted_at: string[] = [...launch.restarted_at];
  let waitMs = launch.backoff.first_ms;
  for (let { restarts } = launch; !stopping.aborted; restarts++) {
    if (restarts > launch.restarts) {
      restarted_at.push(isoNow(clock));
      await note({ restarts, restarted_at: restarted_at.slice(-RESTARTS_LISTED_MAX) }); // (2)
    }
    const began = clock.monotonic();
    const last_exit = await runOnce(deps);
    const ended = { program: null, started_at: null, last_exit };
    if (stopping.aborted) return note(ended);
    if (clock.monotonic() - began >= launch.backoff.stable_ms) waitMs = launch.backoff.first_ms;
    await note({ ...ended, status: "backoff" });
    await sleep(waitMs, stopping);
    waitMs = Math.min(waitMs * 2, launch.backoff.max_ms);
  }
}

/** From claim to exit. What cannot be started counts as ended at once, unless its bytes are not the right ones. */
async function runOnce({
  folder,
  launch,
  program,
  surroundings,
  output,
  clock,
  stopping,
  note,
}: SuperviseDeps) {
  await program.verify(); // (1)
  try {
    const instance_id = await claimInstance(folder, launch.key, isoNow(clock)); // (1)
    await note({ status: "starting", instance_id });
    const env = environmentOf({
      folder,
      instance_id,
      run: launch.run,
      machine_env: launch.machine_env,
      surroundings,
    });
    const { child, identity } = await spawnVerified(program, launch.run.args, {
      ...surroundings,
      cwd: launch.cwd,
      env,
    });
    const exited = new Promise<LastExit>((done) => {
      const tell = (code: number | null, signal: string | null): void =>
        done({ code, signal, at: isoNow(clock) });
      if (child.exitCode !== null || child.signalCode !== null) tell(child.exitCode, child.signalCode);
      else child.once("exit", tell);
    });
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const followed = Promise.all(streams.map(async (stream) => output.follow(stream)));
    await note({ status: "running", program: identity, started_at: isoNow(clock), error: null });
    const last_exit = await endOf(identity, exited, launch.stop_grace_ms, stopping);
    // Its last words; but whatever it forked may hold the pipes open for ever.
    await Promise.race([followed, sleep(LAST_WORDS_MS)]);
    for (const stream of streams) stream.destroy();
    return last_exit;
  } catch (error) {
    await note({
      error: { code: "PROGRAM_NOT_RUNNING", message: error instanceof Error ? error.message : String(error) },
    });
    return { code: null, signal: null, at: isoNow(clock) };
  }
}

async function endOf(
  identity: ProcessIdentity,
  exited: Promise<LastExit>,
  graceMs: number,
  stopping: AbortSignal,
): Promise<LastExit> {
  const ended = new AbortController();
  const asked = new Promise<void>((done) => {
    if (stopping.aborted) done();
    stopping.addEventListener("abort", () => done(), { once: true, signal: ended.signal });
  });
  const stop = async (): Promise<LastExit> => {
    await asked;
    killProcess(identity, "SIGTERM"); // (3)
    if ((await sleep(graceMs, ended.signal)) === "elapsed") killProcess(identity, "SIGKILL", { group: true });
    return exited;
  };
  return Promise.race([exited, stop()]).finally(() => ended.abort());
}

const isoNow = (clock: Clock): string => new Date(clock.now()).toISOString();
