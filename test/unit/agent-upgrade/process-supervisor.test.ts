// When a start counts: the program lives for a while, and it is the one that was started (ROLL-6).
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ShimState, statePath } from "../../../src/agent/shim/files.ts";
import type { ProcessProgram } from "../../../src/agent/programs/config.ts";
import { supervisor } from "../../../src/agent/upgrade/adapters/process/supervisor.ts";
import type { StartRequest } from "../../../src/agent/upgrade/port.ts";
import { Digest } from "../../../src/core/ids.ts";
import { RunSpec } from "../../../src/core/upgrade/job.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { stopProcess } from "../../../src/host/process-identity.ts";

const SHIM = fileURLToPath(new URL("../../support/programs/restarted-shim.ts", import.meta.url));
const REQUEST: StartRequest = {
  key: "some.forward.1",
  fingerprint: Digest.parse(`sha256:${"1".repeat(64)}`),
  run: RunSpec.parse({}),
};

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "fairlead-supervisor-"))));
afterEach(async () => {
  const { shim } = ShimState.parse(JSON.parse(await readFile(statePath(folder), "utf8")));
  await stopProcess(shim, { signal: "SIGKILL", graceMs: 5_000 });
  await rm(folder, { recursive: true, force: true });
});

const start = (restarts: number): Promise<void> => {
  const program = { install_path: "/bin/true", data_dir: folder, env: {}, stop_grace_ms: 0 };
  const supervised = supervisor({
    folder,
    program: program as unknown as ProcessProgram,
    shimCommand: ["/usr/bin/env", `RESTARTS=${restarts}`, process.execPath, SHIM],
    clock: systemClock,
    settleMs: 50,
  });
  return supervised.start(REQUEST, new AbortController().signal);
};

test("ROLL-6: a program that ended and was restarted between two looks has not started", async () => {
  await expect(start(1)).rejects.toMatchObject({
    code: "PROGRAM_NOT_RUNNING",
    message: "the program ended at once (code 7)",
  });
});

test("ROLL-6: a program that lives without a restart has started", async () => {
  await start(0);
});
