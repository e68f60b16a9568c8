/**
 * The one way to start a program.
 *
 * 1. Argument arrays only, never a shell.
 * 2. A child gets the environment it is given and nothing of ours, or a secret in ours would be in its.
 * 3. `run` ends: by exit, by its time or by its output's bound, and then takes the whole process group along.
 */
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { FairleadError } from "../core/errors.ts";
import { errnoOf } from "./file-errors.ts";
import { identityOf, type ProcessIdentity } from "./process-identity.ts";

export interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

export interface RunOptions extends SpawnOptions {
  readonly timeoutMs: number;
  readonly maxOutputBytes?: number;
  readonly input?: Uint8Array | string;
  readonly signal?: AbortSignal;
}

interface Output {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export type RunResult =
  | ({ readonly kind: "exited"; readonly code: number } & Output)
  | ({ readonly kind: "signaled"; readonly signal: NodeJS.Signals } & Output)
  | ({ readonly kind: "timeout" | "output_too_large" | "aborted" } & Output)
  | { readonly kind: "not_started"; readonly errno: string };

const OUTPUT_BYTES_MAX_DEFAULT = 1024 * 1024;

/** What a child gets when nothing is said: enough to find programs and to speak a known language. */
export const minimalEnv = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
});

/** Runs a program to its end and tells how it ended. Never throws for what the program does. */
export async function run(file: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  if (options.signal?.aborted === true)
    return { kind: "aborted", stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  const started = await start(file, args, options, [
    options.input === undefined ? "ignore" : "pipe",
    "pipe",
    "pipe",
  ]);
  return started.kind === "started" ? watch(started.child, options) : started;
}

export interface DetachedOptions extends SpawnOptions {
  /** Descriptors of the child; it shares no pipe with us, so our end is not its end. */
  readonly stdio: readonly ["ignore" | number, "ignore" | number, "ignore" | number];
}

/** Starts a program in its own session that outlives us. The caller keeps the identity; the descriptors stay his. */
export async function spawnDetached(
  file: string,
  args: readonly string[],
  options: DetachedOptions,
): Promise<ProcessIdentity> {
  const { child, identity } = await spawnChild(file, args, { ...options, stdio: [...options.stdio] });
  child.unref();
  return identity;
}

/** Starts a program that the caller watches himself. It leads its own process group. */
export async function spawnChild(
  file: string,
  args: readonly string[],
  options: SpawnOptions & { readonly stdio: StdioOptions },
): Promise<{ child: ChildProcess; identity: ProcessIdentity }> {
  const started = await start(file, args, options, options.stdio);
  if (started.kind === "started") return started;
  throw new FairleadError("ACTION_FAILED", `${file} did not start: ${started.errno}`, {
    errno: started.errno,
  });
}

type Started =
  | { readonly kind: "started"; readonly child: ChildProcess; readonly identity: ProcessIdentity }
  | { readonly kind: "not_started"; readonly errno: string };

async function start(
  file: string,
  args: readonly string[],
  { cwd, env = minimalEnv(), uid, gid }: SpawnOptions,
  stdio: StdioOptions,
): Promise<Started> {
  let child: ChildProcess;
  try {
    child = spawn(file, args, {
      env,
      stdio,
      shell: false, // (1)
      detached: true,
      ...(cwd === undefined ? {} : { cwd }),
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    });
  } catch (error) {
    return { kind: "not_started", errno: errnoOf(error) ?? String(error) };
  }
  // Read before the event loop can reap the child: even one that died at once still has its entry.
  const identity = child.pid === undefined ? undefined : identityOf(child.pid);
  return new Promise((done) => {
    child.once("error", (error) => done({ kind: "not_started", errno: errnoOf(error) ?? error.message }));
    if (identity !== undefined) child.once("spawn", () => done({ kind: "started", child, identity }));
  });
}

async function watch(child: ChildProcess, options: RunOptions): Promise<RunResult> {
  const { timeoutMs, maxOutputBytes = OUTPUT_BYTES_MAX_DEFAULT, signal } = options;
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  let bytes = 0;
  let cut: "timeout" | "output_too_large" | "aborted" | undefined;

  return new Promise((done) => {
    const timer = setTimeout(() => end("timeout"), timeoutMs);
    const onAbort = (): void => end("aborted");
    signal?.addEventListener("abort", onAbort, { once: true });

    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) end("output_too_large");
      else into.push(chunk);
    };
    child.stdout?.on("data", collect(out));
    child.stderr?.on("data", collect(err));
    child.stdin?.on("error", () => undefined); // it may end without reading its input
    child.stdin?.end(options.input);
    child.on("error", () => undefined);
    child.once("close", (code, killedBy) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      const output = { stdout: Buffer.concat(out), stderr: Buffer.concat(err) };
      if (cut !== undefined) done({ kind: cut, ...output });
      else if (killedBy !== null) done({ kind: "signaled", signal: killedBy, ...output });
      else done({ kind: "exited", code: code ?? 0, ...output });
    });

    function end(why: NonNullable<typeof cut>): void {
      if (cut !== undefined) return;
      cut = why;
      killGroup(child); // (3)
      // A grandchild in a group of its own may hold the pipes open for ever: let go of them.
      child.stdout?.destroy();
      child.stderr?.destroy();
    }
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    child.stdin?.destroy();
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}
