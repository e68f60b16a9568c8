/** The CLI in this process, with its streams caught. It does what the command does; only loading it anew is spared. */
import { randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { Io, Redraw } from "../../src/cli/io.ts";
import { run } from "../../src/cli/run.ts";

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

export const ranAs = (code: number, out: string, err: string): Ran => ({
  code,
  out,
  err,
  json: <T>() => JSON.parse(out.trimEnd().split("\n").at(-1)!) as T,
});
