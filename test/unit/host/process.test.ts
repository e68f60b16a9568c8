import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run, spawnChild, spawnDetached } from "../../../src/host/process.ts";
import {
  identityOf,
  isAlive,
  killProcess,
  parseStat,
  processStart,
  stopProcess,
  waitForExit,
} from "../../../src/host/process-identity.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { patiently } from "../../support/patiently.ts";

const script = (code: string) => ["-e", code];
const node = process.execPath;

test("a program's exit, signal and output come back as they were", async () => {
  const exited = await run(node, script("console.log('out'); console.error('err'); process.exit(3)"), {
    timeoutMs: 9_000,
  });
  expect(exited).toEqual({
    kind: "exited",
    code: 3,
    stdout: Buffer.from("out\n"),
    stderr: Buffer.from("err\n"),
  });
  const killed = await run(node, script("process.kill(process.pid, 'SIGKILL')"), { timeoutMs: 9_000 });
  expect(killed).toMatchObject({ kind: "signaled", signal: "SIGKILL" });
});

test("an argument is an argument: no shell sees it", async () => {
  const result = await run("echo", ["$(id)", ";", "`id`", "a b"], { timeoutMs: 5_000 });
  expect(result).toMatchObject({ kind: "exited", stdout: Buffer.from("$(id) ; `id` a b\n") });
});

test("a program that is not there, or an argument with NUL, is told and not thrown", async () => {
  expect(await run("/no/such/program", [], { timeoutMs: 1_000 })).toEqual({
    kind: "not_started",
    errno: "ENOENT",
  });
  expect(await run("echo", ["a\0b"], { timeoutMs: 1_000 })).toMatchObject({ kind: "not_started" });
});

test("a child sees the environment it was given and nothing of ours", async () => {
  process.env["FAIRLEAD_TEST_SECRET"] = "hunter2";
  const result = await run("env", [], { timeoutMs: 5_000 });
  delete process.env["FAIRLEAD_TEST_SECRET"];
  expect(result.kind === "exited" && result.stdout.toString()).not.toContain("hunter2");
});

test("input reaches the program, and one that ends without reading it harms nobody", async () => {
  expect(await run("cat", [], { timeoutMs: 5_000, input: "hello" })).toMatchObject({
    stdout: Buffer.from("hello"),
  });
  expect(await run("true", [], { timeoutMs: 5_000, input: Buffer.alloc(1_000_000) })).toMatchObject({
    code: 0,
  });
});

test("a program that hangs is killed at its time, its children with it", async () => {
  const result = await run("sh", ["-c", "sleep 60 & echo $!; wait"], { timeoutMs: 300 });
  expect(result.kind).toBe("timeout");
  const grandchild = Number(result.kind === "timeout" && result.stdout.toString());
  const identity = identityOf(grandchild);
  if (identity !== undefined) expect(await waitForExit(identity, 2_000)).toBe("gone");
});

test("a program that leaves its group and keeps our pipe open cannot hold us", async () => {
  const started = performance.now();
  const result = await run("sh", ["-c", "setsid sleep 3 & sleep 3"], { timeoutMs: 200 });
  expect(result.kind).toBe("timeout");
  expect(performance.now() - started).toBeLessThan(2_500);
});

test("a program that writes without end is cut off at its bound", async () => {
  const result = await run("yes", [], { timeoutMs: 10_000, maxOutputBytes: 100_000 });
  expect(result.kind).toBe("output_too_large");
  expect(result.kind === "output_too_large" && result.stdout.length).toBeLessThanOrEqual(100_000);
});

test("an abort ends a program, and one that came before starts none", async () => {
  const abort = new AbortController();
  const running = run("sleep", ["60"], { timeoutMs: 60_000, signal: abort.signal });
  setTimeout(() => abort.abort(), 50);
  expect((await running).kind).toBe("aborted");
  expect((await run("sleep", ["60"], { timeoutMs: 60_000, signal: abort.signal })).kind).toBe("aborted");
});

test("a detached program runs on, writes to its log and is known by pid and start time", async () => {
  const log = join(await temporaryFolder(), "log");
  const file = await open(log, "a");
  const identity = await spawnDetached("sh", ["-c", "echo started; exec sleep 60"], {
    stdio: ["ignore", file.fd, file.fd],
  });
  await file.close();
  await patiently(async () => expect(await readFile(log, "utf8")).toBe("started\n"));
  expect(isAlive(identity)).toBe(true);
  expect(isAlive({ ...identity, startTime: "another boot:1" })).toBe(false);
  expect(killProcess({ ...identity, startTime: "another boot:1" }, "SIGKILL")).toBe("gone");
  expect(isAlive(identity)).toBe(true);
  expect(await stopProcess(identity, { graceMs: 2_000 })).toBe("gone");
  expect(killProcess(identity, "SIGKILL")).toBe("gone");
});

test("a detached program that cannot start is an error", async () => {
  const starting = spawnDetached("/no/such/program", [], { stdio: ["ignore", "ignore", "ignore"] });
  await expect(starting).rejects.toMatchObject({ code: "ACTION_FAILED" });
});

test("a program that ignores SIGTERM is killed after its grace", async () => {
  const identity = await spawnDetached("sh", ["-c", "trap '' TERM; while :; do sleep 0.1; done"], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  await new Promise((done) => setTimeout(done, 100)); // until the trap is set
  expect(await stopProcess(identity, { graceMs: 200, group: true })).toBe("gone");
});

test("a process's name may hold spaces and parentheses", () => {
  const fields = ["S", ...Array.from({ length: 18 }, (_, index) => String(index)), "4242", "0"].join(" ");
  expect(parseStat(`17 (a) (b) c) ${fields}`)).toEqual({ state: "S", startTicks: "4242" });
});

test("we have a start time, and a pid that nobody has has none", () => {
  expect(processStart(process.pid)).toBe(processStart(process.pid));
  expect(processStart(process.pid)).toBeTypeOf("string");
  expect(processStart(2 ** 22 + 1)).toBeUndefined();
});

/** Worker threads take longer to exit than the main thread: it is a zombie while they still hold the socket. */
const LISTENS_WITH_WORKERS = `
  const { Worker } = require("node:worker_threads");
  const { createServer } = require("node:net");
  const hold = "const held = Buffer.alloc(40_000_000, 1); setInterval(() => held.length, 1000); " +
    "require('node:worker_threads').parentPort.postMessage('up')";
  const workers = Array.from({ length: 6 }, () => new Worker(hold, { eval: true }));
  Promise.all(workers.map((worker) => new Promise((up) => worker.once("message", up)))).then(() => {
    const server = createServer().listen(0, "127.0.0.1", () => console.log(server.address().port));
  });`;

test("a killed process with many threads is alive until its port can be used again", async () => {
  for (let kill = 0; kill < 8; kill++) {
    const { child, identity } = await spawnChild(node, script(LISTENS_WITH_WORKERS), {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [said] = (await once(child.stdout!, "data")) as [Buffer];
    killProcess(identity, "SIGKILL");
    while (isAlive(identity)); // no pause: the moment between the first and the last thread's exit is short
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(Number(said.toString()), "127.0.0.1", resolve);
    });
    server.close();
  }
});
