/**
 * Starting and stopping a program through its shim.
 *
 * 1. What is wanted is on disk before anyone is signalled or spawned, so a shim that is late does the right thing.
 * 2. `stop` returns when nothing of the program is left, however its shim ended.
 * 3. `start` after a crash joins a launch that is under way instead of beginning another.
 */
import { isDeepStrictEqual } from "node:util";
import { FairleadError } from "../../../../core/errors.ts";
import { type Clock, sleep } from "../../../../host/clock.ts";
import { type FileSystemPort, nodeFileSystem } from "../../../../host/file-system-port.ts";
import { ensureDirectory, readJsonIfThere, writeJsonDurable } from "../../../../host/files.ts";
import { lockHolder } from "../../../../host/lock-file.ts";
import {
  isAlive,
  isOfThisBoot,
  type ProcessIdentity,
  stopProcess,
} from "../../../../host/process-identity.ts";
import type { ProcessProgram } from "../../../programs/config.ts";
import {
  Backoff,
  Launch,
  launchPath,
  RESTARTS_LISTED_MAX,
  SHIM_LOCK,
  shimLogPath,
  type ShimState,
} from "../../../shim/files.ts";
import type { StartRequest } from "../../port.ts";
import { observe, readState } from "./observe.ts";
import { findProcesses } from "./processes.ts";
import { spawnShim } from "./spawn-shim.ts";

export interface SupervisorDeps {
  /** This program's folder under the agent's state. */
  readonly folder: string;
  readonly program: ProcessProgram;
  readonly shimCommand: readonly string[];
  readonly clock: Clock;
  readonly backoff?: Backoff;
  /** A program that lives this long has started. */
  readonly settleMs?: number;
  readonly fs?: FileSystemPort;
}

export interface Supervisor {
  start(request: StartRequest, signal: AbortSignal): Promise<void>;
  stop(signal: AbortSignal): Promise<void>;
  isSupervised(): Promise<boolean>;
  isRunning(): Promise<boolean>;
  /** Wanted, and neither the program nor its shim lives: only a start brings it back. */
  isLost(): Promise<boolean>;
  /** What was last wanted. */
  lastLaunch(): Promise<Launch | undefined>;
}

const SETTLE_MS = 300;
const POLL_MS = 20;
const SHIM_MARGIN_MS = 3_000;

export function supervisor(deps: SupervisorDeps): Supervisor {
  const { folder, program, fs = nodeFileSystem } = deps;
  const lastLaunch = async (): Promise<Launch | undefined> => readJsonIfThere(launchPath(folder), Launch, fs);
  const isSupervised = async (): Promise<boolean> => (await lockHolder(folder, SHIM_LOCK)) !== undefined;
  const want = async (launch: Launch): Promise<void> => {
    await ensureDirectory(folder, 0o700, fs);
    await writeJsonDurable(launchPath(folder), launch, { fs, soleWriter: true }); // (1)
  };

  async function stop(signal: AbortSignal): Promise<void> {
    const launch = await lastLaunch();
    if (launch === undefined) return;
    signal.throwIfAborted();
    if (launch.wanted === "running") await want({ ...launch, wanted: "stopped" });
    const shim = await lockHolder(folder, SHIM_LOCK);
    if (shim !== undefined) await stopProcess(shim, { graceMs: launch.stop_grace_ms + SHIM_MARGIN_MS });
    await stopLeftOver(folder, launch.stop_grace_ms); // (2)
  }

  /** The launch and the shim that serves it. */
  async function launch(request: StartRequest, signal: AbortSignal): Promise<[Launch, ProcessIdentity]> {
    const last = await lastLaunch();
    const shim = await lockHolder(folder, SHIM_LOCK);
    if (last !== undefined && shim !== undefined && isLaunchOf(last, request)) return [last, shim]; // (3)
    const before = await restartsBefore(last, request);
    await stop(signal);
    const next: Launch = {
      ...request,
      ...before,
      number: (last?.number ?? 0) + 1,
      wanted: "running",
      program: program.install_path,
      cwd: program.data_dir,
      machine_env: program.env,
      stop_grace_ms: program.stop_grace_ms,
      backoff: deps.backoff ?? Backoff.parse({}),
      log_bytes_max: LOG_BYTES_MAX,
    };
    signal.throwIfAborted();
    await want(next);
    return [next, await spawnShim(deps.shimCommand, folder)];
  }

  /** The same program, wanted and without its shim, has ended since: its start is one more restart of it. */
  async function restartsBefore(last: Launch | undefined, request: StartRequest) {
    const state = await readState(folder);
    if (last === undefined || state?.launch !== last.number || !isLaunchOf(last, request)) return NO_RESTARTS;
    if (!isOfThisBoot(state.shim) || (await observe(folder)).running !== null) return NO_RESTARTS;
    const restarted_at = [...state.restarted_at, new Date(deps.clock.now()).toISOString()];
    return { restarts: state.restarts + 1, restarted_at: restarted_at.slice(-RESTARTS_LISTED_MAX) };
  }

  return {
    stop,
    isLost: async () =>
      (await lastLaunch())?.wanted === "running" &&
      !(await isSupervised()) &&
      (await observe(folder)).running === null,
    lastLaunch,
    isSupervised,
    isRunning: async () => (await isSupervised()) || (await findProcesses(folder)).length > 0,
    start: async (request, signal) => untilSettled(deps, ...(await launch(request, signal)), signal),
  };
}

const NO_RESTARTS = { restarts: 0, restarted_at: [] };
const LOG_BYTES_MAX = 8 * 1024 * 1024;

const isLaunchOf = ({ wanted, key, fingerprint, run }: Launch, request: StartRequest): boolean =>
  wanted === "running" && isDeepStrictEqual({ key, fingerprint, run }, request);

async function untilSettled(
  { folder, clock, settleMs = SETTLE_MS }: SupervisorDeps,
  { number, restarts }: Launch,
  shim: ProcessIdentity,
  signal: AbortSignal,
): Promise<void> {
  let seen: { readonly pid: number; readonly since: number } | undefined;
  for (;;) {
    // Asked before its last word is read. A late shim of an earlier agent may have come first, and serves as well.
    const served = isAlive(shim) || (await lockHolder(folder, SHIM_LOCK)) !== undefined;
    const state = await readState(folder);
    const program = state?.launch === number ? programOf(state, restarts) : undefined;
    if (program === undefined && !served) {
      throw new FairleadError("ACTION_FAILED", `the shim ended at once: see ${shimLogPath(folder)}`);
    }
    const now = clock.monotonic();
    if (program !== undefined && program.pid !== seen?.pid) seen = { pid: program.pid, since: now };
    if (program !== undefined && seen !== undefined && now - seen.since >= settleMs) return;
    signal.throwIfAborted();
    await sleep(POLL_MS, signal);
  }
}

/** The program if it lives. Throws when this launch will not settle any more. */
function programOf(
  { status, program, restarts, last_exit, error }: ShimState,
  restartsBefore: number,
): ProcessIdentity | undefined {
  if (status === "backoff" || status === "stopped" || restarts > restartsBefore) {
    const how =
      last_exit === null
        ? "did not start"
        : `ended at once (${last_exit.signal ?? `code ${last_exit.code}`})`;
    throw new FairleadError(error?.code ?? "PROGRAM_NOT_RUNNING", error?.message ?? `the program ${how}`);
  }
  return program !== null && isAlive(program) ? program : undefined;
}

/** The program of a shim that was killed, also one that was spawned a moment before; and what it forked. */
async function stopLeftOver(folder: string, graceMs: number): Promise<void> {
  for (let left = await findProcesses(folder); left.length > 0; left = await findProcesses(folder)) {
    const ends = await Promise.all(left.map(async ({ identity }) => stopProcess(identity, { graceMs })));
    if (ends.includes("alive"))
      throw new FairleadError("ACTION_FAILED", "a process of the program does not end");
  }
}
