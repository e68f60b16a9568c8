/** Processes whose stderr fails under them: a full disk, a pipe without a reader, a reader that does not read. */
import { constants } from "node:fs";
import { open, readFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { run, spawnDetached } from "../../../src/host/process.ts";
import {
  isAlive,
  killProcess,
  type ProcessIdentity,
  waitForExit,
} from "../../../src/host/process-identity.ts";
import { lineSink } from "../../../src/host/standard-streams.ts";
import { patiently } from "../../support/patiently.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const CHILD = fileURLToPath(new URL("../../support/host/logging-child.ts", import.meta.url));
const started: ProcessIdentity[] = [];

afterEach(async () => {
  for (const child of started.splice(0)) {
    killProcess(child, "SIGKILL");
    await waitForExit(child, 10_000);
  }
});

interface Logging {
  readonly identity: ProcessIdentity;
  /** Lines that the child has handed to its logger. */
  logged(): Promise<number>;
}

async function startLogging(folder: string, stderr: FileHandle, padding = 0): Promise<Logging> {
  const progress = join(folder, "progress");
  const identity = await spawnDetached(process.execPath, [CHILD, progress, String(padding)], {
    stdio: ["ignore", "ignore", stderr.fd],
  });
  started.push(identity);
  return { identity, logged: async () => Number(await readFile(progress, "utf8").catch(() => "0")) };
}

async function goesOn({ identity, logged }: Logging, lines: number): Promise<void> {
  const from = await logged();
  await patiently(async () => {
    expect(isAlive(identity)).toBe(true);
    expect(await logged()).toBeGreaterThan(from + lines);
  });
}

async function fifo(folder: string): Promise<string> {
  const path = join(folder, "pipe");
  expect(await run("mkfifo", [path], { timeoutMs: 10_000 })).toMatchObject({ kind: "exited", code: 0 });
  return path;
}

const openReader = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDONLY | constants.O_NONBLOCK);

test("a process whose stderr lies on a full disk goes on", async () => {
  const full = await open("/dev/full", "w");
  const child = await startLogging(await temporaryFolder(), full);
  await full.close();
  await goesOn(child, 20);
});

test("a process whose stderr has lost its reader goes on, and tells once how many lines were lost", async () => {
  const folder = await temporaryFolder();
  const path = await fifo(folder);
  const first = await openReader(path);
  const stderr = await open(path, constants.O_WRONLY);
  const child = await startLogging(folder, stderr);
  await stderr.close();
  await goesOn(child, 2);
  await first.close();
  await goesOn(child, 20);

  const second = await openReader(path);
  let text = "";
  await patiently(async () => {
    const { buffer, bytesRead } = await second.read(Buffer.alloc(65_536), 0, 65_536);
    text += buffer.toString("utf8", 0, bytesRead);
    expect(text.trimEnd().split("\n").length).toBeGreaterThan(5);
  });
  await second.close();
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const notices = lines.filter(({ msg }) => msg === "log lines lost");
  expect(notices).toEqual([expect.objectContaining({ level: "warn", cause: "EPIPE" })]);
  // Every line is either there or counted: the notice precedes the first line after the gap.
  const [next] = lines.slice(lines.indexOf(notices[0]!) + 1);
  expect(Number(notices[0]!["lost"])).toBeGreaterThan(20);
  expect(Number(next!["line"])).toBeGreaterThan(Number(notices[0]!["lost"]));
});

test("a process whose stderr is not read goes on, and its memory for unread lines is bounded", async () => {
  const folder = await temporaryFolder();
  const path = await fifo(folder);
  const stalled = await openReader(path);
  const stderr = await open(path, constants.O_WRONLY);
  const child = await startLogging(folder, stderr, 30_000);
  await stderr.close();
  await goesOn(child, 60); // 1.8 MB, where a pipe holds 64 KiB
  await stalled.close();
  await goesOn(child, 20);
});

/** Like a standard stream, it can be written to after a failure. */
function failingStream() {
  const state = { error: null as Error | null, written: "" };
  const stream = {
    writableLength: 0,
    on: () => stream,
    write(chunk: string, done: (error: Error | null) => void): boolean {
      if (state.error === null) state.written += chunk;
      queueMicrotask(() => done(state.error));
      return true;
    },
  };
  return { state, stream: stream as unknown as Writable };
}

test("a sink counts exactly the lines that were lost, and starts anew after it told them", async () => {
  const { state, stream } = failingStream();
  const write = lineSink(stream, (lost, cause) => `lost ${lost} (${cause})\n`);
  const settled = () => new Promise((done) => setImmediate(done));
  const fail = (code: string) => Object.assign(new Error(code), { code });
  for (const [error, lines] of [
    [null, ["a"]],
    [fail("ENOSPC"), ["b", "c", "d"]],
    [null, ["e", "f"]],
    [fail("EIO"), ["g"]],
    [null, ["h"]],
  ] as const) {
    state.error = error;
    for (const line of lines) {
      write(`${line}\n`);
      await settled();
    }
  }
  expect(state.written).toBe("a\nlost 3 (ENOSPC)\ne\nf\nlost 1 (EIO)\nh\n");
});

test("a sink whose stream stalls keeps at most a bounded number of bytes", async () => {
  let resume: (() => void) | undefined;
  let written = "";
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      written += chunk;
      if (resume === undefined) resume = done;
      else done();
    },
  });
  const write = lineSink(stream, (lost) => `lost ${lost}\n`);
  const line = `${"x".repeat(99_999)}\n`;
  for (let n = 0; n < 30; n++) write(line);
  expect(stream.writableLength).toBeLessThanOrEqual(1024 * 1024 + line.length);
  resume!();
  await patiently(() => expect(stream.writableLength).toBe(0));
  write("end\n");
  await patiently(() => expect(written.endsWith("end\n")).toBe(true));
  expect(written).toMatch(/lost \d+\nend\n$/);
});
