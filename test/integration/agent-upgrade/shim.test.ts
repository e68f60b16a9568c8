/** The shim and what it keeps alive: real processes, real signals. */
import { copyFile, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SHIM } from "../../support/programs/built.ts";
import type { ProcessProgram } from "../../../src/agent/programs/config.ts";
import { processAdapter } from "../../../src/agent/upgrade/adapters/process/index.ts";
import { spawnShim } from "../../../src/agent/upgrade/adapters/process/spawn-shim.ts";
import { findProcesses } from "../../../src/agent/upgrade/adapters/process/processes.ts";
import { ensureRunning } from "../../../src/agent/upgrade/ensure-running.ts";
import type { StartRequest } from "../../../src/agent/upgrade/port.ts";
import { openVerified, spawnVerified } from "../../../src/agent/shim/descriptor.ts";
import { ShimState } from "../../../src/agent/shim/files.ts";
import { RunSpec } from "../../../src/core/upgrade/job.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { minimalEnv } from "../../../src/host/process.ts";
import { isAlive, killProcess } from "../../../src/host/process-identity.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { CRASHING, type Machine, machine, never, PROFILE } from "../../support/programs/machine.ts";
import { until } from "../../support/programs/until.ts";

let m: Machine;
beforeEach(async () => void (m = await machine()));
afterEach(async () => m.close());

const folder = (): string => join(m.stateDir, "programs", PROFILE);
const state = async (): Promise<ShimState> =>
  ShimState.parse(JSON.parse(await readFile(join(folder(), "state.json"), "utf8")));
const ensure = async () =>
  ensureRunning({
    profile: PROFILE,
    program: m.program,
    adapter: m.adapter(),
    stateDir: m.stateDir,
    signal: never(),
  });

async function put(bytes: string | Buffer): Promise<void> {
  await writeFile(`${m.program.install_path}.new`, bytes, { mode: 0o755 });
  await rename(`${m.program.install_path}.new`, m.program.install_path);
}

const start = async (env: Record<string, string> = {}, more: Partial<RunSpec> = {}): Promise<void> => {
  const fingerprint = digestOf(await readFile(m.program.install_path));
  const run = RunSpec.parse({ ...m.program.run, ...more, env: { ...m.program.run.env, ...env } });
  await m.adapter().start({ key: "test.forward.1", fingerprint, run }, never());
};

describe("what runs is what was verified", () => {
  it.each([
    ["a script", helloProgram("1.0.0"), helloProgram("6.6.6"), "1.0.0"],
    ["a shell script", '#!/bin/sh\necho "good" "$@"\n', "#!/bin/sh\necho evil\n", "good a b"],
  ])(
    "ROLL-15: %s that is swapped after it was hashed still runs as it was hashed",
    async (_, good, evil, said) => {
      await put(good);
      const program = await openVerified(m.program.install_path, digestOf(good));
      await put(evil);
      const env = { ...minimalEnv(), ...m.program.run.env };
      const { child } = await spawnVerified(program, ["a", "b"], { env });
      const output = await new Promise<string>((done) =>
        child.stdout!.once("data", (chunk: Buffer) => done(chunk.toString())),
      );
      child.kill("SIGKILL");
      await program.close();
      expect(output).toContain(said);
    },
  );

  it("ROLL-15: a binary runs from the descriptor too, and is known by its inode", async () => {
    await copyFile("/bin/sleep", m.program.install_path);
    await start({}, { args: ["1000"] });
    const fingerprint = await m.installed();
    await put(CRASHING); // someone replaces the file under the running program
    expect(await m.adapter().running()).toMatchObject({ fingerprint, instance_id: "test.forward.1.1" });
    expect((await state()).executable).toMatch(/^\d+:\d+$/);
  });

  it("ROLL-15: a binary that becomes another is reported as the other", async () => {
    await copyFile("/usr/bin/env", m.program.install_path);
    await start({}, { args: ["sleep", "1000"] });
    const sleep = digestOf(await readFile("/usr/bin/sleep"));
    await until("env has become sleep", async () => (await m.adapter().running())?.fingerprint === sleep);
    expect(await m.installed()).not.toBe(sleep);
  });

  it("ROLL-15: other bytes than the expected ones are not started at all", async () => {
    await put(helloProgram("6.6.6"));
    const request = {
      key: "test.forward.1",
      fingerprint: digestOf(helloProgram("1.0.0")),
      run: m.program.run,
    };
    await expect(m.adapter().start(request, never())).rejects.toMatchObject({
      code: "ARTIFACT_DIGEST_MISMATCH",
    });
    expect(await m.starts()).toEqual([]);
    expect(await readdir(folder())).not.toContain("claims");
  });

  it("ROLL-15: bytes that someone writes into the file do not run at the next restart", async () => {
    await put(helloProgram("1.0.0"));
    await start();
    await writeFile(m.program.install_path, helloProgram("6.6.6")); // the same inode
    process.kill((await m.version()).pid, "SIGKILL");
    await until("the shim gives up", async () => (await state()).status === "stopped");
    expect((await state()).error?.code).toBe("ARTIFACT_DIGEST_MISMATCH");
    expect(await m.starts()).toHaveLength(1);
  });
});

describe("keeping a program alive", () => {
  beforeEach(async () => put(helloProgram("1.0.0")));

  it("ROLL-6: each restart is a new instance, counted and dated", async () => {
    await start();
    for (const n of [1, 2, 3]) {
      const running = await until("it runs", async () => (await m.adapter().running()) ?? undefined);
      expect(running.instance_id).toBe(`test.forward.1.${n}`);
      process.kill(running.pid, "SIGKILL");
      await until(
        "the next instance runs",
        async () => (await m.adapter().running())?.instance_id === `test.forward.1.${n + 1}`,
      );
    }
    const { restarts, restarted_at, last_exit } = await m.adapter().supervision();
    expect({ restarts, dates: restarted_at.length }).toEqual({ restarts: 3, dates: 3 });
    expect(last_exit).toMatchObject({ code: null, signal: "SIGKILL" });
    expect(await readdir(join(folder(), "claims"))).toEqual(["test.forward.1.4"]);
  });

  it("ROLL-6: a start after SIGKILL of shim and program counts as a restart, and one after a reboot does not", async () => {
    await start();
    const endBoth = async (): Promise<ShimState> => {
      const seen = await state();
      killProcess(seen.shim, "SIGKILL");
      killProcess(seen.program!, "SIGKILL");
      await until("both are gone", () => !isAlive(seen.shim) && !isAlive(seen.program!));
      return seen;
    };
    await endBoth();
    expect(await m.adapter().isLost?.()).toBe(true);
    await start();
    expect(await state()).toMatchObject({ restarts: 1, instance_id: "test.forward.1.2" });
    expect(await m.adapter().isLost?.()).toBe(false);

    const seen = await endBoth();
    const before = { ...seen, shim: { ...seen.shim, startTime: "another-boot:1" } };
    await writeFile(join(folder(), "state.json"), JSON.stringify(before));
    await start();
    expect(await state()).toMatchObject({ restarts: 0 });
  });

  it("ROLL-4: a program that exits by itself is restarted, and its exit code is known", async () => {
    await start({ CRASH: "400" });
    await until("it was restarted", async () => (await m.adapter().supervision()).restarts >= 1);
    expect((await m.adapter().supervision()).last_exit).toMatchObject({ code: 7, signal: null });
  });

  it("ROLL-4: a program that ended once has not started, also when its restart runs by the time it is looked at", async () => {
    await put('#!/bin/sh\nif [ -e "$COUNTER_FILE" ]; then sleep 1000; fi\ntouch "$COUNTER_FILE"\nexit 7\n');
    const adapter = processAdapter({
      profile: PROFILE,
      program: m.program as ProcessProgram,
      stateDir: m.stateDir,
      shimCommand: [process.execPath, SHIM],
      clock: systemClock,
      settleMs: 200,
      backoff: { first_ms: 1, max_ms: 1, stable_ms: 60_000 },
    });
    const request = { key: "test.forward.1", fingerprint: await m.installed(), run: m.program.run };
    await expect(adapter.start(request as StartRequest, never())).rejects.toMatchObject({
      code: "PROGRAM_NOT_RUNNING",
    });
  });

  it("ROLL-4: the environment is the run spec's and nothing of ours", async () => {
    process.env["FAIRLEAD_SECRET_OF_THE_AGENT"] = "hunter2";
    await start({ GREETING: "hello" });
    delete process.env["FAIRLEAD_SECRET_OF_THE_AGENT"];
    const text = await readFile(`/proc/${(await m.version()).pid}/environ`, "utf8");
    const names = text.split("\0").flatMap((entry) => entry.split("=", 1));
    const ours = ["FAIRLEAD_INSTANCE_ID", "FAIRLEAD_PROGRAM_FOLDER", "HOME", "PATH"];
    expect(new Set(names)).toEqual(new Set(["", ...ours, "COUNTER_FILE", "GREETING", "PORT"]));
  });

  it("ROLL-4: runs under its user when the agent is root, and is refused otherwise", async () => {
    const root = process.getuid?.() === 0;
    await put("#!/bin/sh\nid -u\nsleep 1000\n");
    const starting = start({}, { user: "nobody" });
    if (root) {
      await starting;
      await until("it has said who it is", async () =>
        /^\d+$/m.test(await readFile(join(folder(), "program.log"), "utf8")),
      );
      expect(await readFile(join(folder(), "program.log"), "utf8")).not.toMatch(/^0$/m);
    } else await expect(starting).rejects.toMatchObject({ code: "ACTION_FAILED" });
  });

  it("ROLL-4: what it prints goes to a file", async () => {
    await start();
    const log = join(folder(), "program.log");
    await until("it has printed", async () =>
      (await readFile(log, "utf8").catch(() => "")).includes("starts as test.forward.1.1"),
    );
    expect((await readFile(log, "utf8")).startsWith("hello 1.0.0")).toBe(true);
  });
});

describe("stopping a program", () => {
  beforeEach(async () => put(helloProgram("1.0.0")));
  const expectNothingLeft = async (): Promise<void> => {
    expect(await findProcesses(folder())).toEqual([]);
    expect(await m.adapter().isRunning()).toBe(false);
    expect(await m.adapter().running()).toBeNull();
  };

  it("ROLL-4: asks, waits for it, and the shim leaves too", async () => {
    await start();
    await m.version(); // by now it listens to signals
    const { shim } = await state();
    await m.adapter().stop(never());
    expect(isAlive(shim)).toBe(false);
    expect(await state()).toMatchObject({ status: "stopped", last_exit: { code: 0, signal: null } });
    await expectNothingLeft();
  });

  it("ROLL-4: kills one that does not listen", async () => {
    m = Object.assign(m, { program: Object.assign(m.program, { stop_grace_ms: 100 }) });
    await start({ IGNORE_SIGTERM: "1" });
    await m.version();
    await m.adapter().stop(never());
    expect((await state()).last_exit).toMatchObject({ signal: "SIGKILL" });
    await expectNothingLeft();
  });

  it("ROLL-4: after the grace the shim kills the whole group, with children that do not listen either", async () => {
    m = Object.assign(m, { program: Object.assign(m.program, { stop_grace_ms: 100 }) });
    await put(
      "#!/bin/sh\ntrap '' TERM\nsh -c \"trap '' TERM; sleep 1000 & wait; sleep 1000\" &\nwait\nsleep 1000\n",
    );
    await start();
    await until("it has forked", async () => (await findProcesses(folder())).length >= 3);
    const { shim } = await state();
    killProcess(shim, "SIGTERM"); // the shim alone: no agent looks for what it leaves
    await until("the shim is gone", () => !isAlive(shim));
    await until("its group is gone", async () => (await findProcesses(folder())).length === 0);
  });

  it("ROLL-4: takes along what the program forked", async () => {
    await put("#!/bin/sh\nsleep 1000 &\nsleep 1000 &\nwait\n");
    await start();
    await until("it has forked", async () => (await findProcesses(folder())).length >= 3);
    await m.adapter().stop(never());
    await expectNothingLeft();
  });

  it("ROLL-6: finds the program of a shim that was killed", async () => {
    await start();
    const { shim, program } = await state();
    killProcess(shim, "SIGKILL");
    await until("the shim is gone", () => !isAlive(shim));
    expect(isAlive(program!)).toBe(true);
    expect(await m.adapter().running()).toMatchObject({ instance_id: "test.forward.1.1" });
    await m.adapter().stop(never());
    await expectNothingLeft();
  });

  it("ROLL-6: finds one that a shim spawned in its last moment, before it could note it", async () => {
    await start();
    const seen = await state();
    killProcess(seen.shim, "SIGKILL");
    await until("the shim is gone", () => !isAlive(seen.shim));
    const before: ShimState = { ...seen, status: "starting", program: null, started_at: null };
    await writeFile(join(folder(), "state.json"), JSON.stringify(before));
    expect(await m.adapter().isRunning()).toBe(true);
    await m.adapter().stop(never());
    await expectNothingLeft();
  });

  it("ROLL-4: is not held up by a shim that hangs", async () => {
    m = Object.assign(m, { program: Object.assign(m.program, { stop_grace_ms: 100 }) });
    await start();
    const { shim } = await state();
    killProcess(shim, "SIGSTOP");
    await m.adapter().stop(never());
    expect(isAlive(shim)).toBe(false);
    await expectNothingLeft();
  });
});

describe("an agent that comes back", () => {
  beforeEach(async () => put(helloProgram("1.0.0")));

  it("ROLL-6: finds the program running and leaves it alone", async () => {
    expect(await ensure()).toEqual({ kind: "started" });
    const { pid } = await m.version();
    expect(await ensure()).toEqual({ kind: "running" });
    expect((await m.version()).pid).toBe(pid);
    expect(await m.starts()).toHaveLength(1);
  });

  it("ROLL-6: takes over a program whose shim was killed, as a new instance", async () => {
    await ensure();
    const { shim } = await state();
    killProcess(shim, "SIGKILL");
    await until("the shim is gone", () => !isAlive(shim));
    expect(await ensure()).toEqual({ kind: "started" });
    expect(await until("the new one answers", async () => m.version())).toMatchObject({
      instance_id: "provisioned.forward.1.2",
    });
    expect(await findProcesses(folder())).toHaveLength(1);
  });

  it("ROLL-6: is served by a late shim of the agent before it", async () => {
    await mkdir(folder(), { recursive: true });
    const late = spawnShim([process.execPath, SHIM], folder());
    expect(await ensure()).toEqual({ kind: "started" });
    await late;
    await m.version();
    expect(await findProcesses(folder())).toHaveLength(1);
    expect(await m.starts()).toHaveLength(1);
  });

  it("ROLL-6: starts it twice at once, and one instance runs", async () => {
    await Promise.all([ensure(), ensure()].map(async (ensured) => ensured.catch(() => undefined)));
    await m.version();
    expect((await findProcesses(folder())).map(({ instance_id }) => instance_id)).toHaveLength(1);
  });
});
