/** `fairlead …`: everything but the server and the agent. Loads next to nothing, so that `--help` is quick. */
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

/** `fairlead node list | head -1` closes the pipe early: no error, nothing left to say. */
function leaveWhenNobodyReads(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}
