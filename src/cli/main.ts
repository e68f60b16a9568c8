/** `fairlead …`: everything but the server and the agent. Loads next to nothing, so that `--help` is quick. */
import { EXIT } from "../core/error-codes.ts";
import { guardStreams } from "../host/standard-streams.ts";
import type { Io, Redraw, Screen } from "./io.ts";
import { run } from "./run.ts";

export async function main(argv: string[]): Promise<number> {
  leaveWhenNobodyReads();
  return run(argv, processIo());
}

function processIo(): Io {
  return {
    env: process.env,
    stdin: process.stdin,
    stdout: screenOf(process.stdout),
    stderr: screenOf(process.stderr),
    now: Date.now,
    randomBytes: (count) => crypto().randomBytes(count),
    randomUuid: () => crypto().randomUUID(),
    redraw: hasSize(process.stdout) ? redraw : null,
  };
}

/** A serial line is a terminal of no rows and no columns: nothing can be drawn there. */
const hasSize = (stream: NodeJS.WriteStream): boolean =>
  stream.isTTY && stream.columns > 0 && stream.rows > 0;

async function redraw(): Promise<Redraw> {
  const { createLogUpdate } = await import("log-update");
  const log = createLogUpdate(process.stdout);
  return { columns: () => process.stdout.columns, show: (text) => log(text), done: () => log.done() };
}

/** Loading it takes longer than printing `--help`. */
const crypto = () => process.getBuiltinModule("node:crypto");

const screenOf = (stream: NodeJS.WriteStream): Screen => ({
  write: (text) => void stream.write(text),
  isTTY: stream.isTTY,
});

/**
 * `fairlead node list | head -1` closes the pipe early: no error, nothing left to say. On a full disk the answer is lost,
 * which is a failure. A stderr that fails loses its lines: a `watch` or `wait` goes on to its result.
 */
function leaveWhenNobodyReads(): void {
  guardStreams(process.stderr);
  process.stdout.on("error", ({ code = "unknown error" }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(0);
    process.stderr.write(`error: stdout cannot be written: ${code}\nwhat to do: send the output elsewhere\n`);
    process.exit(EXIT.failed);
  });
}
