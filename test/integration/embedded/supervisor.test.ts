import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "../../../src/host/log.ts";
import {
  identityOf,
  isAlive,
  killProcess,
  type ProcessIdentity,
} from "../../../src/host/process-identity.ts";
import { type Program, supervise } from "../../../src/server/embedded/supervisor.ts";
import { temporaryDataDir } from "./support.ts";
import { patiently } from "../../support/patiently.ts";

/** A shell script in the place of an engine. */
async function supervised(script: string, changes: Partial<Program> = {}, giveUp?: AbortSignal) {
  const folder = await temporaryDataDir();
  const spawned: ProcessIdentity[] = [];
  const logFile = join(folder, "log");
  let restarts = 0;
  const program: Program = {
    name: "restate",
    command: { file: "sh", args: ["-c", script], cwd: folder },
    stopSignal: "SIGTERM",
    stopGraceMs: 500,
    readyTimeoutMs: 2_000,
    prepare: async () => undefined,
    isReady: async () => true,
    ...changes,
  };
  const supervisor = await supervise(program, {
    log: silentLogger,
    logFile,
    giveUp,
    spawned: async (identity) => void spawned.push(identity),
    restarted: () => (restarts += 1),
  });
  return { supervisor, spawned, logFile, restarts: () => restarts };
}

test("a program that never becomes ready is given up after some tries, with the end of its log", async () => {
  const starting = supervised("echo no such disk >&2; exit 1", { isReady: async () => false });
  await expect(starting).rejects.toMatchObject({ code: "NOT_READY" });
  await expect(starting).rejects.toThrow("no such disk");
});

test("a first start that is given up ends at once, and takes its program along", async () => {
  const giveUp = new AbortController();
  const folder = await temporaryDataDir();
  const started = join(folder, "started");
  const starting = supervised(
    `echo $$ > ${started}; exec sleep 600`,
    { isReady: async () => false, readyTimeoutMs: 600_000 },
    giveUp.signal,
  );
  const pid = await patiently(async () => {
    const read = Number(await readFile(started, "utf8"));
    expect(read).toBeGreaterThan(0);
    return read;
  });
  const identity = identityOf(pid)!;
  expect(isAlive(identity)).toBe(true);
  giveUp.abort();
  await expect(starting).rejects.toMatchObject({ code: "NOT_READY" });
  expect(isAlive(identity)).toBe(false);
});

test("a program that is up is not ended by what would have given its start up", async () => {
  const giveUp = new AbortController();
  const { supervisor, spawned } = await supervised("exec sleep 600", {}, giveUp.signal);
  giveUp.abort();
  expect(killProcess(spawned[0]!, "SIGKILL")).toBe("sent");
  await patiently(() => expect(spawned).toHaveLength(2));
  expect(isAlive(spawned[1]!)).toBe(true);
  await supervisor.stop();
});

test("a program that died is started again, and stop ends it for good, also one that ignores the signal", async () => {
  const { supervisor, spawned, restarts } = await supervised("trap '' TERM; while :; do sleep 0.05; done");
  const first = spawned[0];
  expect(first && killProcess(first, "SIGKILL")).toBe("sent");
  await patiently(() => expect(restarts()).toBe(1));
  await supervisor.stop();
  expect(spawned).toHaveLength(2);
  expect(spawned.some(isAlive)).toBe(false);
});

test("a program that keeps dying is started ever more slowly", async () => {
  const { supervisor, logFile } = await supervised("date +%s%3N; sleep 0.02");
  await patiently(async () =>
    expect((await readFile(logFile, "utf8")).split("\n").length).toBeGreaterThan(4),
  );
  await supervisor.stop();
  const starts = (await readFile(logFile, "utf8")).trim().split("\n").map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = starts;
  // It waits for a tenth of a second, then for twice as long each time; a busy machine only adds to it.
  for (const [index, pause] of [b - a, c - b, d - c].entries())
    expect(pause).toBeGreaterThanOrEqual(100 * 2 ** index);
});

test("a stop at the moment when a restarted program is ready leaves nothing running", async () => {
  let isRestart = false;
  let stopped: Promise<void> | undefined;
  const isReady = async (): Promise<boolean> => {
    if (isRestart) stopped = supervisor.stop();
    return true;
  };
  const { supervisor, spawned } = await supervised("exec sleep 60", { isReady });
  isRestart = true;
  expect(killProcess(spawned[0]!, "SIGKILL")).toBe("sent");
  await patiently(() => expect(stopped).toBeDefined());
  await stopped;
  expect(spawned).toHaveLength(2);
  expect(spawned.some(isAlive)).toBe(false);
});

test("a stop in the middle of a restart leaves nothing running", async () => {
  let ready = true;
  const { supervisor, spawned } = await supervised("exec sleep 60", { isReady: async () => ready });
  ready = false;
  const first = spawned[0];
  expect(first && killProcess(first, "SIGKILL")).toBe("sent");
  await patiently(() => expect(spawned).toHaveLength(2));
  await supervisor.stop();
  expect(spawned.some(isAlive)).toBe(false);
});
