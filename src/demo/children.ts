/**
 * The long-running processes of a demo.
 *
 * 1. Each is recorded on disk before it does anything: a run that is killed leaves a list, and the next run ends them.
 * 2. They are stopped last started first, by identity and never by name.
 * 3. Once they are being stopped no other one begins: a Ctrl-C comes in the middle of the story.
 */
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { FairleadError } from "../core/errors.ts";
import { readJsonIfThere, writeJsonDurable } from "../host/files.ts";
import { spawnChild, type SpawnOptions } from "../host/process.ts";
import { isAlive, ProcessIdentity, stopProcess } from "../host/process-identity.ts";

const STOP_GRACE_MS = 15_000;
const LISTEN_TIMEOUT_MS = 60_000;

const Recorded = z.array(ProcessIdentity);

export type Children = ReturnType<typeof recordedChildren>;

const recordIn = (folder: string): string => join(folder, "children.json");

/** The server is recorded first, and lives as long as the demo. */
export async function isDemoRunning(folder: string): Promise<boolean> {
  const [server] = (await readJsonIfThere(recordIn(folder), Recorded)) ?? [];
  return server !== undefined && isAlive(server);
}

export function recordedChildren(folder: string) {
  const path = recordIn(folder);
  let started: ProcessIdentity[] = [];
  let ending = false;

  async function record(identity: ProcessIdentity): Promise<void> {
    if (ending) {
      await stopProcess(identity, { graceMs: STOP_GRACE_MS }); // (3)
      throw new FairleadError("ACTION_FAILED", "the demo is ending");
    }
    started = [...started, identity];
    await writeJsonDurable(path, started);
  }

  return {
    /** For a process that the caller started and watches himself. */
    record,

    async endLeftovers(): Promise<void> {
      for (const identity of (await readJsonIfThere(path, Recorded)) ?? [])
        await stopProcess(identity, { graceMs: STOP_GRACE_MS });
    },

    async start(name: string, file: string, args: readonly string[], options: SpawnOptions): Promise<void> {
      const log = openSync(join(folder, `${name}.log`), "a", 0o600);
      const { child, identity } = await spawnChild(file, args, { ...options, stdio: ["ignore", log, log] });
      closeSync(log);
      child.unref();
      await record(identity);
    },

    /** Starts a process that says one line of JSON when it is up. */
    async startAndRead(
      name: string,
      file: string,
      args: readonly string[],
      options: SpawnOptions,
    ): Promise<unknown> {
      const log = openSync(join(folder, `${name}.log`), "a", 0o600);
      const { child, identity } = await spawnChild(file, args, {
        ...options,
        stdio: ["ignore", "pipe", log],
      });
      closeSync(log);
      await record(identity);
      const line = await firstLine(child, name, join(folder, `${name}.log`));
      child.unref();
      return JSON.parse(line);
    },

    async stopAll(): Promise<void> {
      ending = true;
      for (let last = started.at(-1); last !== undefined; last = started.at(-1)) {
        started = started.slice(0, -1);
        await stopProcess(last, { graceMs: STOP_GRACE_MS });
      }
      await writeJsonDurable(path, started);
    },
  };
}

async function firstLine(
  child: Awaited<ReturnType<typeof spawnChild>>["child"],
  name: string,
  log: string,
): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  try {
    return await new Promise<string>((resolve, reject) => {
      const fail = (why: string) =>
        reject(new FairleadError("NOT_READY", `the ${name} ${why}; its log is ${log}`));
      const timer = setTimeout(() => fail("did not come up in time"), LISTEN_TIMEOUT_MS);
      child.once("exit", (code) => fail(`left with ${code ?? "a signal"}`));
      lines.once("line", (line) => {
        clearTimeout(timer);
        resolve(line);
      });
    });
  } finally {
    lines.close();
    child.removeAllListeners("exit");
    child.stdout!.resume();
    child.stdout!.destroy();
  }
}
