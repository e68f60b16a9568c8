/**
 * Keeps a program running until it is told to stop.
 *
 * 1. A program that died is started again, sooner at first and later when it keeps dying.
 * 2. Started means ready: nobody hears of a start before the program answers.
 * 3. After `stop` it is gone, also when the stop comes in the middle of a start; a first start can be given up.
 */
import { FairleadError } from "../../core/errors.ts";
import { sleep } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import { spawnChild, type SpawnOptions } from "../../host/process.ts";
import { isAlive, type ProcessIdentity, stopProcess } from "../../host/process-identity.ts";
import { openLogFile, tailOfLog } from "./log-file.ts";

export type ProgramName = "postgres" | "restate";

export interface Program {
  readonly name: ProgramName;
  readonly command: SpawnOptions & { readonly file: string; readonly args: readonly string[] };
  readonly stopSignal: NodeJS.Signals;
  readonly stopGraceMs: number;
  readonly readyTimeoutMs: number;
  /** Puts in place what the program needs; before each start. */
  prepare(): Promise<void>;
  isReady(): Promise<boolean>;
}

export interface SupervisorHooks {
  readonly log: Logger;
  readonly logFile: string;
  /** Ends the first start, as long as it is not ready. */
  readonly giveUp?: AbortSignal | undefined;
  /** Called before anything else is done with a new process: whoever must kill it later knows it from here. */
  spawned(identity: ProcessIdentity): Promise<void>;
  /** The program died and answers again. */
  restarted(): void;
}

export interface Supervised {
  stop(): Promise<void>;
}

const FIRST_START_ATTEMPTS_MAX = 5;
const BACKOFF_MIN_MS = 100;
const BACKOFF_MAX_MS = 5_000;
const STABLE_AFTER_MS = 10_000;
const READY_POLL_MS = 25;

export async function supervise(program: Program, hooks: SupervisorHooks): Promise<Supervised> {
  const log = hooks.log.child({ program: program.name });
  const stopping = new AbortController();
  let running: Running | undefined;

  async function startRepeatedly(
    attemptsMax: number,
    firstWaitMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    let waitMs = firstWaitMs;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      await sleep(waitMs, signal);
      if (signal.aborted) return;
      try {
        const started = await startOnce(program, hooks, signal);
        if (signal.aborted) await end(started.identity, program); // (3) whoever stops knows only the one before it
        else running = started;
        return;
      } catch (error) {
        if (attempt >= attemptsMax) throw error;
        waitMs = Math.min(Math.max(waitMs * 2, BACKOFF_MIN_MS), BACKOFF_MAX_MS); // (1)
        if (!signal.aborted) log.warn("start failed, retrying", { attempt, waitMs, error });
      }
    }
  }

  async function keepRunning(): Promise<void> {
    for (let waitMs = BACKOFF_MIN_MS; running !== undefined;) {
      const startedAt = performance.now();
      const how = await running.exited;
      if (stopping.signal.aborted) return;
      const stable = performance.now() - startedAt > STABLE_AFTER_MS;
      waitMs = stable ? BACKOFF_MIN_MS : waitMs;
      log.warn("exited, restarting", { how, waitMs });
      await startRepeatedly(Infinity, waitMs, stopping.signal);
      waitMs = Math.min(waitMs * 2, BACKOFF_MAX_MS);
      if (!stopping.signal.aborted) hooks.restarted();
    }
  }

  await startRepeatedly(FIRST_START_ATTEMPTS_MAX, 0, hooks.giveUp ?? stopping.signal);
  if (running === undefined) throw new FairleadError("NOT_READY", `${program.name}: its start was given up`);
  const kept = keepRunning();
  return {
    async stop() {
      stopping.abort();
      if (running !== undefined) await end(running.identity, program);
      await kept; // (3)
    },
  };
}

interface Running {
  readonly identity: ProcessIdentity;
  /** How it ended: an exit code or a signal. */
  readonly exited: Promise<number | string>;
}

async function startOnce(program: Program, hooks: SupervisorHooks, signal: AbortSignal): Promise<Running> {
  await program.prepare();
  const { file, args, ...options } = program.command;
  const output = await openLogFile(hooks.logFile);
  try {
    const { child, identity } = await spawnChild(file, args, {
      ...options,
      stdio: ["ignore", output.fd, output.fd],
    });
    const exited = new Promise<number | string>((done) => {
      child.once("exit", (code, killedBy) => done(code ?? killedBy ?? "unknown"));
    });
    await hooks.spawned(identity).catch(async (error: unknown) => {
      await end(identity, program); // nobody else knows it, and the next attempt needs its place
      throw error;
    });
    if (await becomesReady(program, identity, signal)) return { identity, exited }; // (2)
    await end(identity, program);
    const tail = signal.aborted ? "" : await tailOfLog(hooks.logFile);
    throw new FairleadError("NOT_READY", `${program.name} did not become ready: ${tail}`);
  } finally {
    await output.close();
  }
}

async function becomesReady(
  program: Program,
  identity: ProcessIdentity,
  signal: AbortSignal,
): Promise<boolean> {
  const until = performance.now() + program.readyTimeoutMs;
  while (isAlive(identity) && !signal.aborted && performance.now() < until) {
    if (await program.isReady()) return true;
    await sleep(READY_POLL_MS, signal);
  }
  return false;
}

async function end(identity: ProcessIdentity, program: Program): Promise<void> {
  const how = await stopProcess(identity, { signal: program.stopSignal, graceMs: program.stopGraceMs });
  if (how === "alive")
    throw new FairleadError("ACTION_TIMEOUT", `${program.name} (pid ${identity.pid}) does not die`);
}
