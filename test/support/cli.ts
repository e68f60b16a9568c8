/**
 * The CLI: in this process, with its streams caught, where only what it does matters and loading it anew is spared; and
 * as a process of its own.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { Io, Redraw } from "../../src/cli/io.ts";
import { run } from "../../src/cli/run.ts";
import { run as runProcess } from "../../src/host/process.ts";

const PROCESS_TIMEOUT_MS = 180_000;

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The last line, which is the result. */
  json<T>(): T;
}

export interface CliOptions {
  readonly env?: Io["env"];
  readonly stdin?: string;
  readonly now?: () => number;
  /** A terminal. */
  readonly redraw?: (() => Promise<Redraw>) | null;
}

export async function fairleadHere(
  argv: readonly string[],
  { env = {}, stdin = "", now = Date.now, redraw = null }: CliOptions = {},
): Promise<Ran> {
  const said = { out: "", err: "" };
  const isTTY = redraw !== null;
  const code = await run(argv, {
    env,
    stdin: Readable.from([stdin]),
    stdout: { write: (text) => void (said.out += text), isTTY },
    stderr: { write: (text) => void (said.err += text), isTTY },
    now,
    randomBytes,
    randomUuid: randomUUID,
    redraw,
  });
  return ranAs(code, said.out, said.err);
}

/** A process to its end; the command's as a person starts it. */
export async function ranProcess(
  [file, ...args]: readonly [string, ...string[]],
  env: Record<string, string>,
): Promise<Ran> {
  const ran = await runProcess(file, args, { env, timeoutMs: PROCESS_TIMEOUT_MS });
  if (ran.kind !== "exited") throw new Error(`${args.join(" ")}: ${ran.kind}`);
  return ranAs(ran.code, ran.stdout.toString(), ran.stderr.toString());
}

const ranAs = (code: number, out: string, err: string): Ran => ({
  code,
  out,
  err,
  json: <T>() => JSON.parse(out.trimEnd().split("\n").at(-1)!) as T,
});
