// A server whose drive worker ends by itself: it shuts down with its engines and fails, so that its supervisor starts it anew.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { killHard, processesAround } from "../../support/lab/processes.ts";

/** Loaded by every thread: any but the first ends when the file is there. */
const ENDS_WORKERS = (file: string): string => `
  import { existsSync } from "node:fs";
  import { isMainThread } from "node:worker_threads";
  if (!isMainThread) setInterval(() => existsSync(${JSON.stringify(file)}) && process.exit(3), 20).unref();`;

test("USE-5: a server whose drive worker is lost shuts down with its engines, and exits with 1", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fl-d-"));
  await chmod(folder, 0o711); // PostgreSQL's account passes through
  const [signal, hook, home] = [join(folder, "end"), join(folder, "hook.mjs"), join(folder, "home")];
  await mkdir(home, { mode: 0o700 });
  await writeFile(hook, ENDS_WORKERS(signal));
  const flags = ["--embedded", "--ephemeral", "--data-dir", join(folder, "server")];
  const ports = ["--listen", "--agent-listen", "--enroll-listen"].flatMap((flag) => [flag, "127.0.0.1:0"]);
  const server = spawn(NODE, [FAIRLEAD, "server", ...flags, ...ports], {
    env: { ...commandEnv(home), NODE_OPTIONS: `--import ${hook}` },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(async () => {
    for (const { identity } of await processesAround([folder])) await killHard(identity);
    await rm(folder, { recursive: true, force: true });
  });
  const ended = once(server, "exit");
  await once(createInterface({ input: server.stdout }), "line");
  await writeFile(signal, "");
  expect((await ended)[0]).toBe(1);
  expect(await processesAround([folder])).toEqual([]);
}, 120_000);
